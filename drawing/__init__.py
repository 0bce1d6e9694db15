"""What all pages are drawn with: elements, plots, colours, style, script."""
