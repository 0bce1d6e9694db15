"""From a plan to a runs file: what is to be run, one run, processes, Dask workers, provenance."""
