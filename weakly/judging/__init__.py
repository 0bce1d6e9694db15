"""From runs to verdicts: tables, cells, statistics, claims. Never imports TensorFlow."""
