"""What everything else may use: user errors, paths, writing files, argument types, the text of our code."""
