"""What goes beyond the paper: other methods and interpretations, the cross-check, today, the scaling."""
