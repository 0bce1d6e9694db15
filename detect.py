"""Find anomalies in your own table, in which a few dozen anomalies are labelled: python detect.py --help."""

import sys

from weakly.own_data.commands import main

if __name__ == "__main__":
    sys.exit(main())
