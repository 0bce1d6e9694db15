"""The claims on hand-made tables: every rule at its border, and holes that are said, not tripped over."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from weakly.judging import claims
from weakly.judging.claims import CLAIMS, NEW, OURS, PAPER, judge_claims, judged_by
from weakly.judging.effects import lead
from weakly.judging.sources import OurTables, PublishedTables, sources_by_name
from weakly.judging.statistics import published_scores, signed_rank_sum
from weakly.judging.table_rules import direction_text
from weakly.judging.verdicts import CLAIM_VERDICTS, Finding, Part, at_half_and_twice, verdict_on
from weakly.methods import METHODS, method_group
from weakly.paths import ROOT
from weakly.reporting.theorem import predicted_scores
from weakly.running.runs_file import RUN_COLUMNS

SUPPORTED, WEAKENED, CONTRADICTED, NOT_SO_ON_PARTIAL, NOT_DIAGNOSTIC, UNTESTABLE = CLAIM_VERDICTS
SETS = ["donors", "census", "celeba", "bac", "w7a", "campaign", "thyroid"]
EIGHT = [*SETS, "fraud"]  # enough for a corrected p below 0.05 against six methods
UNSEEN = ["dos->bac", "fuz->bac", "rec->bac", "bac->dos", "fuz->dos", "rec->dos", "rec,fuz->bac"]
BY_KEY = {one.key: one for one in CLAIMS}


def write(folder, experiment, sets=SETS, status="exact", metric="auc_pr", **scores):
    """A table of an experiment: per method one score for all data sets, or a list."""
    table = {"dataset": sets, "status": status} | {f"{metric}_{name}": one for name, one in scores.items()}
    pd.DataFrame(table, index=range(len(sets))).to_csv(folder / f"{experiment}.csv", index=False)


def write_sweep(folder, experiment, parameter, by_value, sets=SETS):
    """A table of a sweep: {value: {method: one score or a list}}."""
    columns = {"parameter": parameter, "dataset": sets, "status": "exact"}
    parts = [
        pd.DataFrame(columns | {f"auc_pr_{name}": one for name, one in scores.items()}).assign(value=value)
        for value, scores in by_value.items()
    ]
    pd.concat(parts).to_csv(folder / f"{experiment}.csv", index=False)


def write_runs(folder, scores, protocol="released"):
    """A runs file of Table 2 and its table: {(data set, method): AUC-PR of its runs}."""
    same = dict.fromkeys(RUN_COLUMNS, 0) | {"experiment": "seen", "protocol": protocol, "n_labeled": 60}
    same |= {"contamination": 0.02, "auc_pr_weighted": "", "data_status": "exact", "scaling": "prepared"}
    rows = [
        same | {"method": method, "dataset": dataset, "run": run, "seed": run, "auc_pr": value}
        for (dataset, method), values in scores.items()
        for run, value in enumerate(values)
    ]
    pd.DataFrame(rows).to_csv(folder / "seen_runs.csv", index=False)
    means = {method: [np.mean(scores[one]) for one in scores if one[1] == method] for _, method in scores}
    sets = [name for name, method in scores if method == "prenet"]
    write(folder, "seen" if protocol == "released" else f"seen_{protocol}", sets, **means)


def table_scores(prenet=0.8, **others):
    """Scores of the seven methods of Table 2: the others' at 0.5 unless given."""
    return {"prenet": prenet} | dict.fromkeys(method_group("table")[1:], 0.5) | others


def found(key, folder, new_draws=False):
    """What our tables in a folder say about the claim of a key."""
    return judged_by(BY_KEY[key], OurTables(folder, new_draws))


def check(finding, verdict, *texts):
    """The finding has this verdict, and all texts are in its evidence."""
    assert finding.verdict == verdict, finding
    for text in texts:
        assert text in finding.evidence, finding.evidence


def test_without_results_nothing_of_ours_is_tested_and_the_command_to_run_is_named(tmp_path):
    for one in judge_claims(sources_by_name(tmp_path)):
        for title in (OURS, NEW):
            finding = one.findings[title]
            assert finding.verdict == UNTESTABLE and finding.status == ""
            assert (ROOT / re.search(r"\./(run_\w+\.sh)", finding.evidence).group(1)).exists()
    assert "--protocol independent" in found("best-on-seen", tmp_path, new_draws=True).evidence
    assert "--protocol redrawn" in found("more-labels-help", tmp_path, new_draws=True).evidence
    assert "--theorem" in found("theorem-order", tmp_path).evidence
    write(tmp_path, "seen", status="synthetic", **table_scores())  # which never counts
    assert {one.verdict for one in judge_claims(sources_by_name(tmp_path))} == {UNTESTABLE}


def test_the_papers_own_values_are_judged_on_all_its_sets_and_on_ours(tmp_path):
    write(tmp_path, "seen", EIGHT, prenet=0.8, devnet=0.5)
    judged = {one.claim.key: one.findings for one in judge_claims(sources_by_name(tmp_path))}
    on_ours = PublishedTables(OurTables("")).title
    assert list(judged["nine-on-seen"]) == [PAPER, on_ours, OURS, NEW]
    check(judged["best-on-seen"][PAPER], SUPPORTED, "PReNet is ranked 1 of 7: PReNet 0.583")
    nine = "ahead, but not significantly: FEAWAD (ahead on 8 of 11, p = 0.154"
    check(judged["nine-on-seen"][PAPER], WEAKENED, "ignificantly better than 8 of 9", nine)
    check(judged["nine-on-unseen"][PAPER], WEAKENED, "FEAWAD (ahead on 19 of 28, p = 0.399")
    check(judged["robust-in-margin"][PAPER], UNTESTABLE)  # a figure without numbers
    check(judged["devnet-on-six"][PAPER], UNTESTABLE)  # no single runs
    check(judged["significant-on-seen"][on_ours], SUPPORTED, "8 printed sets that we have")
    # what ours are compared with is not judged
    check(judged["improvement-on-seen"][on_ours], UNTESTABLE, "Ours are compared with: DevNet +")


def test_partial_data_contradicts_nothing_and_is_counted_apart(tmp_path):
    write(tmp_path, "seen", EIGHT, **table_scores(0.8))
    write(tmp_path, "unseen", sets=UNSEEN, status="partial", **table_scores(devnet=0.9))
    judged = judge_claims(sources_by_name(tmp_path))
    counts = claims.verdict_counts_of_claims(judged)
    exact, partial = counts.loc[f"{OURS}, exact data"], counts.loc[f"{OURS}, partial data"]
    assert exact[SUPPORTED] and not exact[CONTRADICTED] and not exact[NOT_SO_ON_PARTIAL]
    assert partial[NOT_SO_ON_PARTIAL] and not partial[CONTRADICTED]
    assert claims.counts_by_data(judged)["partial"][NOT_SO_ON_PARTIAL] == partial[NOT_SO_ON_PARTIAL]
    per_source = counts.groupby(lambda name: name.split(", exact")[0].split(", partial")[0]).sum()
    assert (per_source.sum(axis=1) == len(CLAIMS)).all()


def test_partial_data_counts_only_where_there_is_no_other_and_is_named(tmp_path):
    write(tmp_path, "unseen", sets=UNSEEN, status="partial", **table_scores())
    check(found("best-on-unseen", tmp_path), SUPPORTED, "partial data, 7 sets")
    # the partial set would turn the average; new draws have verdicts of their own
    status = ["exact"] * 6 + ["partial"]
    write(tmp_path, "seen", status=status, **table_scores(devnet=[0.7] * 6 + [9.0]))
    write(tmp_path, "seen_independent", **table_scores(prenet=0.4))
    check(found("best-on-seen", tmp_path), SUPPORTED)
    check(found("best-on-seen", tmp_path, new_draws=True), CONTRADICTED)


@pytest.mark.parametrize("parts, every, most", [
    ("sss", SUPPORTED, SUPPORTED), ("ssw", WEAKENED, SUPPORTED), ("ssc", WEAKENED, SUPPORTED),
    ("sw", WEAKENED, WEAKENED),  # one of two is no majority
    ("swc", WEAKENED, WEAKENED),
    ("sc", CONTRADICTED, CONTRADICTED),  # the right direction on half of them is not on most
    ("ssccc", CONTRADICTED, CONTRADICTED), ("www", WEAKENED, WEAKENED), ("c", CONTRADICTED, CONTRADICTED),
    ("sssr", CONTRADICTED, SUPPORTED),  # significantly reversed
])  # fmt: skip
def test_parts(parts, every, most):
    kinds = {"s": (True,), "w": (True, False), "c": (False,), "r": (False, True, True)}
    parts = [Part("", *kinds[letter]) for letter in parts]
    assert (verdict_on(parts), verdict_on(parts, is_of_most=True)) == (every, most)


@pytest.mark.parametrize("status, at_half", [("exact", CONTRADICTED), ("partial", NOT_SO_ON_PARTIAL)])
def test_a_verdict_that_changes_at_half_or_twice_the_threshold_is_marked(status, at_half):
    def rule(limit):
        return Finding(SUPPORTED if limit >= 0.06 else CONTRADICTED, "It falls by 0.06.", status)

    finding = at_half_and_twice(rule, 0.05)
    assert finding.is_fragile and finding.shown == "contradicted (fragile)"
    assert finding.evidence.endswith(f"The threshold is 0.05; at 0.025 {at_half}; at 0.1 supported.")
    finding = at_half_and_twice(rule, 0.2)
    assert finding.shown == "supported" and "same at half and at twice the threshold" in finding.evidence


def test_the_direction_of_a_test_is_that_of_its_rank_sum():
    """Six small wins and one large loss: the mean is below, the ranks 1 to 6 against 7 are above."""
    values = pd.DataFrame({"prenet": [0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.1], "devnet": 0.5})
    assert values["prenet"].mean() < 0.5 and signed_rank_sum(values, "devnet") == 21 - 7
    assert direction_text(values, "devnet") == "ahead on 6 of 7"
    worse = pd.DataFrame({"prenet": [0.51, 0.52, 0.53, 0.1, 0.2], "devnet": 0.5})
    assert direction_text(worse, "devnet") == "3 wins and 2 losses on 5, the losses are larger"


# ---------------------------------------------------------------------------- every rule at its border


def table(experiment, sets=SETS, **scores):
    return lambda folder: write(folder, experiment, sets, **scores)


def seen(sets=SETS, **others):
    return table("seen", sets, **table_scores(**others))


def ablation(**variant):
    return table("ablation", prenet=0.8, **variant)


def sweep(experiment, parameter, by_value, sets=SETS):
    return lambda folder: write_sweep(folder, experiment, parameter, by_value, sets)


def labels(prenet, sets=SETS, **of_120):
    """A sweep over 15, 30, 60 and 120 labels, in which the rivals have 0.5 with all but 120."""
    at = {n: {"prenet": value} | dict.fromkeys(of_120, 0.5) for n, value in zip((15, 30, 60), prenet)}
    return sweep("labels", "n_labeled", at | {120: {"prenet": 0.7} | of_120}, sets)


def more_labels(sets=SETS, **of_120):
    """A sweep in which methods have 0.4 with 15 labels."""
    of_120 = {"prenet": 0.5} | of_120
    return sweep("labels", "n_labeled", {15: dict.fromkeys(of_120, 0.4), 120: of_120}, sets)


def rates(at_5):
    at = {0.0: {"prenet": 0.9}, 0.02: {"prenet": 0.9}, 0.05: {"prenet": [*at_5, 0.1]}, 0.1: {"prenet": 0.8}}
    return sweep("contamination", "contamination", at, [*SETS, "news20"])


def margins(**changed):
    at = {0.25: 0.44, 0.5: 0.5, 1.0: 0.46, 2.0: 0.5, 4.0: 0.5, 8.0: 0.54}
    at |= {float(name.removeprefix("at_").replace("_", ".")): value for name, value in changed.items()}
    return sweep("sensitivity", "margin", {value: {"prenet": score} for value, score in at.items()})


def l2(at_large):
    at = {0.01: {"prenet": 0.5}, 0.1: {"prenet": at_large}}
    return sweep("sensitivity", "l2", at, ["bac", "thyroid", "donors"])


def layers(sets=SETS, **two):
    names = ("prenet", "devnet", "dsad", "fsnet", "cfsnet", "repen")
    two = {f"{name}-two-layers": two.get(name, 0.4) for name in names}
    return lambda folder: (seen()(folder), write(folder, "interpretations", sets, **two))


def theorem(at_large, shift=0.0, shares=(0.02, 0.5)):
    """Scores as predicted, those of anomalies shifted; at the larger share their gap is given."""
    rows = []
    for share in shares:
        anomalies, normals = predicted_scores(share, 4.0)
        above = anomalies + shift if share < 0.1 or at_large is None else normals + at_large
        row = {"dataset": "bac", "status": "exact", "share": share, "mean_score_anomalies": above}
        row |= {"mean_score_normals": normals, "predicted_anomalies": anomalies, "predicted_normals": normals}
        rows.append(row)
    return lambda folder: pd.DataFrame(rows).to_csv(folder / "theorem.csv", index=False)


MIXED = [0.7] * 3 + [0.9] * 5  # PReNet, at 0.8, is behind on five of eight
TEN = {name: 0.8 - 0.01 * place for place, name in enumerate(method_group("table", "appendix"))}
PRINTED = published_scores("seen", "auc_pr", SETS).mean()
# nine tenths of the gains that the printed values give on our seven sets, and a little more
ENOUGH = {
    name: 0.8 / (1 + 0.9001 * (PRINTED["prenet"] / PRINTED[name] - 1)) for name in method_group("table")[1:]
}
LESS = ENOUGH | {"fsnet": 0.8 / (1 + 0.8999 * (PRINTED["prenet"] / PRINTED["fsnet"] - 1))}
# 2% better on census, bac and thyroid, of which 3% less a point is claimed; then worse on two of them
PER_SET = [0.4, 0.49, 0.4, 0.49, 0.46, 0.46, 0.49]
WORSE = [0.4, 0.51, 0.4, 0.51, 0.46, 0.46, 0.49]
FIVE = dict.fromkeys(("devnet", "dsad", "fsnet", "cfsnet", "repen"), 0.5)
UP_ON_TWO = FIVE | {"devnet": [0.9] * 2 + [0.39] * 5}  # higher on average, lower on five of seven


@pytest.mark.parametrize("case", [
    # better on all eight sets: p = 2 / 2**8, six times that is below 0.05; on seven it is not
    ("significant-on-seen", seen(EIGHT), SUPPORTED,
     "6 of 6: DevNet (ahead on 8 of 8, p = 0.047, uncorrected 0.008, lead +0.300 [+0.300, +0.300])",
     "smallest p that 8 sets can give is 0.0078, corrected for 6 methods 0.047."),
    ("significant-on-seen", seen(), WEAKENED, "p = 0.094, uncorrected 0.016"),
    ("significant-on-seen", seen(EIGHT, devnet=MIXED, dsad=MIXED, fsnet=MIXED), CONTRADICTED),
    ("significant-on-seen", seen(EIGHT, fsnet=0.9), CONTRADICTED,  # one is significantly better
     "not better than FSNet (behind on 8 of 8, p = 0.047, uncorrected 0.008, lead −0.100"),
    ("significant-on-seen", table("seen", prenet=0.8, devnet=0.5, dsad=[0.5] * 3 + [np.nan] * 4), WEAKENED,
     "not tested (not run, or on fewer than 6 sets): DSAD, FSNet, cFSNet, REPEN, iForest"),
    ("best-on-seen", seen(), SUPPORTED, "PReNet 0.800, DevNet 0.500", "7 exact data sets"),
    ("best-on-seen", seen(repen=[0.1] * 2 + [0.9] * 5), WEAKENED, "lead over REPEN +0.129 [−"),
    ("best-on-seen", seen(repen=0.81), CONTRADICTED, "2 of 7: REPEN 0.810, PReNet 0.800"),
    ("best-or-comparable", seen(devnet=0.81), SUPPORTED),  # exactly 0.01 above
    ("best-or-comparable", seen(devnet=[0.81] * 6 + [0.83]), WEAKENED,
     "further below the best: thyroid 0.800 (DevNet 0.830)", "at 0.005 contradicted; at 0.02 weakened"),
    ("improvement-on-seen", seen(**ENOUGH), SUPPORTED, "in the paper's table on these sets",
     "The threshold is 0.1 of the figure; at 0.05 weakened; at 0.2 supported."),
    ("improvement-on-seen", seen(**LESS), WEAKENED, "; less: FSNet +"),
    ("devnet-per-set", table("seen", prenet=0.5, devnet=PER_SET), SUPPORTED,
     "5 of the 6 named sets tested; as", "better, but by less: w7a +8.7% (claimed 10%)"),
    ("devnet-per-set", table("seen", prenet=0.5, devnet=WORSE), WEAKENED,
     "not better: census −2.0% (claimed 3%), bac"),
    ("more-than-over-devnet", table("unseen", UNSEEN, **table_scores(devnet=0.6)), SUPPORTED),
    ("more-than-over-devnet", table("unseen", UNSEEN, **table_scores(devnet=0.6, dsad=0.7)), WEAKENED,
     "not more over DSAD +14"),
    ("best-rank-on-seen", table("seen", **TEN), SUPPORTED),
    ("best-rank-on-seen", table("seen", **TEN | {"feawad": 0.9}), CONTRADICTED, "FEAWAD 1.00, PReNet 2.00"),
    # first by 1/7 of a rank: DevNet is above on three of seven sets
    ("best-rank-on-seen", table("seen", **TEN | {"devnet": [0.9] * 3 + [0.79] * 4}), WEAKENED),
    ("conover-on-seen", table("seen", **TEN), SUPPORTED),
    ("conover-on-seen", table("seen", **TEN | {"feawad": 0.9}), CONTRADICTED,  # the same order everywhere
     "not better than FEAWAD (rank 1.00 versus 2.00"),
    ("three-more-on-seen", table("seen", **TEN | {"feawad": 0.9}), WEAKENED,
     "not better than FEAWAD (ahead on 0, behind on 7 of 7, lead −0.100"),
    ("three-way", ablation(trm=0.7), SUPPORTED),
    ("three-way", ablation(trm=0.79), WEAKENED),  # better, but by 1.3% only
    ("pairs-instead-of-instances", ablation(iprenet=[0.7] * 6 + [0.9]), SUPPORTED),  # all but one
    ("pairs-instead-of-instances", ablation(iprenet=[0.7] * 5 + [0.9] * 2), WEAKENED),
    ("pairs-instead-of-instances", ablation(iprenet=[0.7] * 3 + [0.9] * 4), CONTRADICTED),
    ("feature-layer", ablation(ldm=0.8 * 0.89), SUPPORTED),
    ("deeper", ablation(a2h=0.79), SUPPORTED),
    ("deeper", ablation(a2h=[0.1] * 3 + [0.81] * 4), WEAKENED),  # better in the mean only
    ("non-linear", ablation(npr=0.81), CONTRADICTED),
    ("one-hidden-layer", layers(), SUPPORTED),
    ("one-hidden-layer", layers(repen=0.6), WEAKENED, "not for REPEN (0.500 versus 0.600 with two"),
    # 0.600 is within 0.01 of 0.610; with 15 labels 0.4 is below DSAD's 0.45 with 120 and its 0.5 with 15
    ("fewer-labels-than-devnet", labels((0.4, 0.45, 0.6), devnet=0.61), SUPPORTED,
     "w7a 0.600 versus 0.610, campaign 0.600 versus 0.610", "as good with 30 on 0 of 2",
     "at 0.005 weakened; at 0.02 supported"),
    ("fewer-labels-than-dsad", labels((0.4, 0.45, 0.6), dsad=0.45), CONTRADICTED),
    ("fewer-labels-than-dsad", labels((0.51, 0.5, 0.5), dsad=0.6), WEAKENED),  # with as few labels only
    # every method on seen anomalies, most of them on unseen ones
    ("more-labels-help", more_labels(**FIVE), SUPPORTED),
    ("more-labels-help", more_labels(**UP_ON_TWO), WEAKENED, "on average only: DevNet +0.136, up on 2 of 7"),
    ("more-labels-help-on-unseen", more_labels(UNSEEN, **UP_ON_TWO), SUPPORTED),
    ("more-labels-help", more_labels(**dict.fromkeys(FIVE, 0.4)), CONTRADICTED),  # one of six
    # the largest change per data set, without news20; exactly 0.05 is within, and a rise is a change
    ("stable-under-contamination", rates([0.85] * 7), SUPPORTED,
     "at 0.025 contradicted; at 0.1 supported", "At 10%: within 0.05 on 0 of 7, largest on donors −0.100."),
    ("stable-under-contamination", rates([0.86] * 4 + [0.84] * 3), WEAKENED,
     "on 4 of 7 sets for 2%, 5% instead of 0%", "campaign −0.060"),
    ("stable-under-contamination", rates([0.86] * 3 + [0.96] * 4), CONTRADICTED, "on 3 of 7"),
    ("robust-in-margin", margins(), SUPPORTED),
    ("robust-in-margin", margins(at_1=[0.44] + [0.46] * 6), WEAKENED, "on 6 of 7 sets", "donors −0.060"),
    ("small-margin", margins(), CONTRADICTED),
    ("small-margin", margins(at_0_25=0.7), SUPPORTED),  # higher is well, too
    ("larger-margins", margins(), SUPPORTED),  # by 0.1
    ("large-lambda", l2([0.48, 0.48, 0.9]), SUPPORTED, "2 of the 4 named sets tested"),
    ("large-lambda", l2([0.495, 0.48, 0.9]), WEAKENED),
    ("large-lambda", l2([0.5, 0.48, 0.9]), CONTRADICTED),
    ("theorem-values", theorem(None, -0.5), SUPPORTED),  # exactly the distance that is allowed
    ("theorem-order", theorem(None, -0.5), SUPPORTED, "at 2 of 2 points"),
    ("theorem-order", theorem(-0.2), CONTRADICTED,  # one of two points
     "at 1 of 2 points; the smallest gap is −0.20, on bac at a share of 0.50"),
    ("theorem-values", theorem(-0.2), WEAKENED),  # three of four means are near
    # at a share of 0.7 it expects 6 of anomalies and 2 + 0.7 * 6 = 6.2 of normals; where anomalies stay
    # above, the order below 2/3 is no evidence for it
    ("theorem-order", theorem(None, 0.0, (0.02, 0.7)), SUPPORTED, "stay above at 0 of 1 points",
     "predicted 6.00 and 6.20."),
    ("theorem-order", theorem(0.1, 0.0, (0.02, 0.7)), NOT_DIAGNOSTIC, "stay above at 1 of 1 points"),
], ids=lambda case: f"{case[0]}-{case[2]}")  # fmt: skip
def test_rules(tmp_path, case):
    key, write_results, verdict, *texts = case
    write_results(tmp_path)
    check(found(key, tmp_path), verdict, *texts)


def test_the_level_asked_for_in_auc_roc_is_the_papers(tmp_path):
    """Ranks of the differences: 1, 2.5, 4, 5, 6, 7, 8 won and 2.5 lost; p is between 0.05 and 0.1."""
    devnet, prenet = [0.7] * 6 + [0.81, 0.7], [0.71, 0.72, 0.73, 0.74, 0.75, 0.76, 0.76, 0.9]
    write(tmp_path, "seen", EIGHT, metric="auc_roc", **table_scores(prenet=prenet, devnet=devnet))
    finding = found("significant-auc-roc-on-seen", tmp_path)
    p_value = float(re.search(r"DevNet \(ahead on 7 of 8, p = ([\d.]+)", finding.evidence).group(1))
    assert 0.05 < p_value < 0.1 and finding.verdict == SUPPORTED


def test_on_unseen_classes_the_independent_sets_come_first(tmp_path):
    """The four sets with all other classes seen; p-values over all, which share rows, come after them."""
    independent = ["rec,dos,fuz->bac", "rec,bac,fuz->dos", "rec,bac,dos->fuz", "dos,bac,fuz->rec"]
    devnet = [0.5] * 6 + [0.9] + [0.5] * 4
    write(tmp_path, "unseen", [*UNSEEN, *independent], **table_scores(devnet=devnet, dsad=[0.5] * 10 + [0.9]))
    evidence = found("significant-on-unseen", tmp_path).evidence
    first, _, rest = evidence.partition(" Over all 11 sets, which share rows, so that p is too small: ")
    assert first.startswith("One set per unseen class, where no p can be below 0.125: ahead of DevNet on 4")
    assert "DSAD on 3 of 4" in first and "DevNet (ahead on 10 of 11, p" in rest


def test_single_sets_are_judged_on_new_draws_and_seeds_are_no_draws(tmp_path):
    """Ten runs that vary much, each above its partner: p = 2 / 2**10. Half of them above: no difference."""
    spread, half = np.linspace(0.2, 0.8, 10), np.tile([-0.05, 0.05], 5)
    better, level, worse = spread + 0.01, spread + half, spread - 0.1
    scores = {(name, "devnet"): spread for name in SETS[:6]}
    scores |= {(name, "prenet"): values for name, values in zip(SETS, [better] * 3 + [level] * 2 + [worse])}
    fewer = scores | {("census", "prenet"): level}  # on 2 of 6, and worse on 1
    as_many = fewer | {("celeba", "prenet"): level}  # as many better as worse
    too_few = {key: values[:5] for key, values in scores.items()}  # no p below 0.05
    for runs, verdict in ((scores, SUPPORTED), (fewer, WEAKENED), (as_many, CONTRADICTED)):
        write_runs(tmp_path, runs, "independent")
        assert found("devnet-on-six", tmp_path, new_draws=True).verdict == verdict  # 6 of 12 are claimed
    write_runs(tmp_path, scores)
    check(found("devnet-on-six", tmp_path), UNTESTABLE, "which is no test: donors +0.010 ± 0.271")
    write_runs(tmp_path, scores, "independent")
    judged = next(one for one in judge_claims(sources_by_name(tmp_path)) if one.claim.key == "devnet-on-six")
    assert judged.ours is judged.findings[NEW]
    counted = "ignificantly better on 3: donors +0.010, census +0.010, celeba +0.010"
    check(judged.ours, SUPPORTED, counted, "significantly worse on 1: campaign −0.100 (Wilcoxon over")
    write_runs(tmp_path, too_few, "independent")
    check(found("devnet-on-six", tmp_path, new_draws=True), UNTESTABLE)


def test_a_lead_has_an_interval_over_data_sets_and_runs():
    assert lead({"a": [0.1], "b": [0.1]}) == pytest.approx((0.1, 0.1, 0.1))
    mean, low, high = lead({"a": [0.0], "b": [0.2]})  # both drawn twice in a quarter of the draws each
    assert (mean, low, high) == pytest.approx((0.1, 0.0, 0.2))
    of_runs = lead({str(place): [0.0, 0.2] * 5 for place in range(8)})
    assert 0.05 < of_runs.low < 0.1 < of_runs.high < 0.15
    # eight sets: about as wide as the t interval, where plain percentiles are a quarter narrower
    values = np.random.default_rng(1).normal(size=8)
    of_eight = lead({str(place): [value] for place, value in enumerate(values)})
    half = t.ppf(0.975, 7) * values.std(ddof=1) / 8**0.5
    assert (of_eight.high - of_eight.low) / 2 == pytest.approx(half, rel=0.1)
    assert str(lead({"a": [0.25]})) == "+0.250"  # one set has no interval


@pytest.mark.parametrize("sets, scores", [
    (SETS[:1], table_scores()), (SETS, {"prenet": 0.5}), (SETS, {"devnet": 0.5}),
    (SETS, {"prenet": np.nan, "devnet": 0.5}),
    (SETS, {"prenet": [0.5] + [np.nan] * 6, "devnet": [np.nan] + [0.5] * 6}),
    (SETS, dict.fromkeys(METHODS, 0.5)),
], ids=["one set", "PReNet only", "no PReNet", "PReNet empty", "disjoint", "all the same"])  # fmt: skip
def test_tables_with_next_to_nothing_in_them_get_verdicts_all_the_same(tmp_path, sets, scores):
    for experiment in ("seen", "unseen", "ablation", "interpretations"):
        write(tmp_path, experiment, sets, **scores)
    write_sweep(tmp_path, "labels", "n_labeled", {15: scores, 60: scores, 120: scores}, sets)
    write_sweep(tmp_path, "contamination", "contamination", {0.0: scores, 0.1: scores}, sets)
    write_sweep(tmp_path, "sensitivity", "l2", {0.01: scores, 0.1: scores}, sets)
    for one in judge_claims(sources_by_name(tmp_path)):
        assert one.verdict in CLAIM_VERDICTS and one.evidence.endswith(".") and "nan" not in one.evidence
