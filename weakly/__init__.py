"""Everything behind the commands; the modules here are what all rooms may use."""

from weakly.own_modules import keep_texts

keep_texts()
