"""From published files to the rows of a run: data sets, downloads, readers, prepared arrays, splits."""
