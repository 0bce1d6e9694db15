"""What all pages share: elements, plots, colours, style and script."""
