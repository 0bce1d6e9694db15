"""What a model file says about itself: in words for `info` and the report, as plain values for programs.

facts = model_facts(load_model("fraud.model"))
record_evaluation("fraud.model", table, args, {"AUC-PR": 0.61})      # by evaluate --record
"""

from weakly.errors import DataError, printable
from weakly.methods import METHODS
from weakly.own_data.features import described_encoder
from weakly.own_data.origin import described_table
from weakly.own_data.saved_models import load_model, save_model

NOT_RECORDED = "not recorded"
SHOWN_LEVELS, SHOWN_LETTERS = 6, 40  # of a category, of a level


def described_model(model):
    """All that a model file says about itself, for JSON; None if an older file does not record it."""
    origin = model.origin or {}
    settings = model.detector.get_params()
    summary = model.summary or {}
    columns = {
        name: column | observed(summary.get(name, {}))
        for name, column in described_encoder(model.encoder).items()
    }
    anomalies, normals = origin.get("labelled_anomalies"), origin.get("known_normals", 0)
    return {
        "method": model.method,
        "settings": settings,
        "rows": model.n_rows,
        "labelled_anomalies": anomalies,
        "known_normals": None if anomalies is None else normals,
        "unlabelled": None if anomalies is None else model.n_rows - anomalies - normals,
        "features": sum(model.widths),
        "label": origin.get("label"),
        "anomaly_values": origin.get("anomaly_values"),
        "normal_value": origin.get("normal_value"),
        "decimal": model.decimal,
        "header": model.header,
        **{name: origin.get(name) for name in ("table", "date", "code", "versions", "evaluation")},
        "columns": columns,
    }


def observed(summary):
    """What a column held in training, from its summary (drift.py): share missing, range of numbers."""
    range_ = {"range": [summary["quantiles"][0], summary["quantiles"][-1]]} if "quantiles" in summary else {}
    return {"missing": summary.get("missing")} | range_


def model_facts(model):
    """{name: text} about a model, in the order in which a reader wants them."""
    known = described_model(model)
    settings = ", ".join(f"{name}={value}" for name, value in known["settings"].items())
    facts = {
        "Method": f"{METHODS[model.method].column} ({model.method})",
        "Settings": settings,
        "Fitted on": fitted_on(known),
        "Label": label_in_words(known),
        "Training table": table_in_words(known["table"]),
        "Table changed": known["date"] or NOT_RECORDED,
        "Code": known["code"] or NOT_RECORDED,
        "Libraries": ", ".join(f"{name} {value}" for name, value in (known["versions"] or {}).items())
        or NOT_RECORDED,
        "Evaluation": evaluation_in_words(known["evaluation"]),
    }
    return {name: printable(text) for name, text in facts.items()}


def fitted_on(known):
    rows = f"{known['rows']:,} rows, {known['features']:,} features"
    if known["labelled_anomalies"] is None:
        return f"{rows}; how many were labelled is {NOT_RECORDED}"
    normals = f"{known['known_normals']:,} known normal, " if known["known_normals"] else ""
    anomalies = f"{known['labelled_anomalies']:,} labelled anomalies"
    return f"{rows}: {anomalies}, {normals}{known['unlabelled']:,} unlabelled"


def label_in_words(known):
    """The label column, and what marked an anomaly in it."""
    if known["label"] is None:
        return NOT_RECORDED
    values = ", ".join(known["anomaly_values"] or ["1, true or yes"])
    normal = "" if known["normal_value"] is None else f"; {known['normal_value']} marks normal rows"
    return f"{known['label']}; {values} marks an anomaly{normal}"


def table_in_words(table):
    if not table:
        return NOT_RECORDED
    return f"{table.get('name')}, {table.get('bytes', 0):,} bytes, SHA-256 {table.get('sha256')}"


def evaluation_in_words(found):
    """The metrics that evaluate --record wrote, and what they were measured on."""
    if not found:
        return f"{NOT_RECORDED} (detect.py evaluate --record MODEL adds it)"
    metrics = ", ".join(f"{name} {value:.4f}" for name, value in found.get("metrics", {}).items())
    runs = "1 run" if found.get("runs") == 1 else f"mean of {found.get('runs')} runs"
    labelled = f"{found.get('labelled_anomalies')} labelled anomalies"
    return f"{metrics} ({runs} on held-out rows of {(found.get('table') or {}).get('name')}, {labelled})"


def column_in_words(column):
    """Range or levels of one column of described_encoder."""
    if column["kind"] == "number":
        low, median, high = column["low_median_high"]
        smallest, largest = column.get("range", (low, high))
        text = f"{smallest:.6g} to {largest:.6g}, median {median:.6g}"
        text += f", cut off at {low:.6g} and {high:.6g}" if (smallest, largest) != (low, high) else ""
    elif column["kind"] == "boolean":
        text = f"mostly {'true' if column['mode'] else 'false'}"
    else:
        shown = [level[:SHOWN_LETTERS] for level in column["levels"][:SHOWN_LEVELS]]
        more = len(column["levels"]) - len(shown)
        text = f"{len(column['levels'])} levels: {', '.join(shown)}"
        text += (f" and {more} more" if more else "") + (", and rare ones" if column["rare"] else "")
    return printable(text)


def check_recordable(path, methods):
    """The method of a model file; refuses an evaluation of other methods before it begins."""
    method = load_model(path).method
    if method not in methods:
        raise DataError(
            f"{path} is a model of {method}, so an evaluation of {', '.join(methods)} cannot be recorded in "
            f"it: add --method {method}."
        )
    return method


def record_evaluation(path, table, args, metrics):
    """Write what evaluate found into a model file; metrics: {name: value}."""
    model = load_model(path)
    found = {
        "table": described_table(table),
        "labelled_anomalies": args.n_labeled,
        "runs": args.runs,
        "seed": args.seed,
        "metrics": {name: float(value) for name, value in metrics.items()},
    }
    model.origin = (model.origin or {}) | {"evaluation": found}
    save_model(path, model)
