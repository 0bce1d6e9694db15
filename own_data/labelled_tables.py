"""The table of fit or evaluate: its rows, its labels and the columns to learn from."""

from common.errors import DataError
from common.writing import is_one_of, name_of
from loading.files import bounded_memory
from own_data.arguments import anomaly_values
from own_data.column_kinds import choose_columns, typed_columns
from own_data.leakage import suspicious_columns
from own_data.table_files import table_path
from own_data.user_tables import Table, read_labeled


def labeled_rows(args, target, all_known=False):
    """The table of fit or evaluate, its rows as strings without the label column, and y (n,)."""
    with bounded_memory(table_path(args.table)):
        table = Table(args.table, args.header, args.encoding, args.decimal or ".")
        refuse_source(target, table.status)
        texts, y = read_labeled(
            table, args.label, args.drop, anomaly_values(args.anomaly_value), args.normal_value, all_known
        )
    return table, texts, y


def refuse_source(target, *statuses):
    """Refuse to write to a file that is read from."""
    if is_one_of(target, *statuses):
        raise DataError(f"{name_of(target)} is read from, so nothing can be written there.")


def columns_to_use(table, texts, y):
    """{column: kind} of what is learned from; warns of columns that a model should not see."""
    with bounded_memory(table.path):
        kinds = choose_columns(texts, table.path, table.decimal)
        for warning in suspicious_columns(typed_columns(texts, kinds, table.decimal), kinds, y):
            print(warning)
    return kinds
