"""Everything behind the commands; the modules here are what all rooms may use."""
