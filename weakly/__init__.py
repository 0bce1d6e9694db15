"""Everything behind the commands; the modules here are what all rooms may use.

pipeline = weakly.load_model("fraud.model")        # a model that detect.py has fitted, as a Pipeline
weakly.save_model("fraud.model", pipeline, X)      # one fitted in Python on the DataFrame X, for detect.py
"""


def load_model(path):
    """The scikit-learn Pipeline in a model file; a DataError unless it is a model."""
    from weakly.own_data import models

    return models.load_model(path).pipeline


def save_model(path, pipeline, X):
    """Write a Pipeline that ends in one of these detectors; X is the DataFrame that it was fitted on."""
    from weakly.own_data import models

    models.save_model(path, models.Model.of_pipeline(pipeline, X))
