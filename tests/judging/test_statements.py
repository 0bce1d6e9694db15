"""Every number that README.md and REPRODUCTION.md state in words comes from a committed file.

statements() has their phrases with the numbers filled in from results/reference. A decimal that no phrase
covers is an error, so a new number needs a phrase here.
"""

import re
from functools import cache, partial

import pytest

from weakly.beyond.scaling import scaling_runs
from weakly.beyond.today import average_auc_pr, t_interval, today_runs
from weakly.judging.claims import OURS, PAPER, counts_by_data
from weakly.judging.effects import Lead, contamination_kinds
from weakly.judging.headline import chance_to_show, headline, own_numbers
from weakly.judging.printed import printed_beside_lowest
from weakly.judging.ranks import holm, signed_rank_p
from weakly.judging.sources import RELEASED
from weakly.judging.statistics import smallest_p, unseen_class_table
from weakly.numbers import number, signed
from weakly.paths import ROOT
from weakly.reporting.write_up import REFERENCE, assessed, interpretation_cells, printed_xgbod, rows_of

PAGES = ("README.md", "REPRODUCTION.md")
# versions, thresholds and settings, and what only commits of the git history have
NOT_RESULTS = (
    "3.10 to 3.13", "at most 0.01,", "within 0.01 on average", "rule of 0.01", "within 0.03",
    "the paper says 0.01", "more than 0.011 on any set", "more than 0.05 at 5% with",
    # bounds, most of which test_advice.py checks
    "0.97 and 46 above 0.99", "processors by at most 0.01", "at most 0.003 on any set", "within 0.015",
    "by 0.12 for REPEN", "about 0.022", "0.04 to 0.09 behind", "at most 0.022", "within 0.006",
)  # fmt: skip


@cache
def words(page):
    """The text of a page without its tables, code and emphasis, on one line."""
    text = (ROOT / page).read_text()
    text = re.sub(r"```.*?```|<!-- \S+ -->\n.*?<!-- end -->", " ", text, flags=re.DOTALL)
    return " ".join(text.replace("**", "").split())


def the(column, file, **chosen):
    """One cell of a committed table."""
    (value,) = rows_of(file, **chosen)[column]
    return value


def ours(method, dataset=None, column="reproduced"):
    """AUC-PR of a method or interpretation on a data set, or its average over those it was run on."""
    cells = interpretation_cells().query("metric == 'auc_pr' and method == @method")
    return cells.loc[cells["dataset"].eq(dataset) if dataset else cells.index, column].mean()


def printed(method, dataset=None):
    return ours(method, dataset, "published")


def seen(method, dataset=None, table="seen", column="auc_pr", status="exact", **chosen):
    """A cell of a table of results, or the average over its exact data sets."""
    rows = rows_of(table, status=status, **chosen)
    return rows.loc[rows["dataset"].eq(dataset) if dataset else rows.index, f"{column}_{method}"].mean()


def behind(scaling, sets="all"):
    """How far PReNet is behind XGBOD with a scaling, in independent draws."""
    chosen = {"method": "xgbod", "protocol": "independent", "scaling": scaling, "sets": sets}
    return -the("mean", "scaling_leads", **chosen)


def scaled(method, scaling, protocol="independent"):
    return the(scaling, "scaling_averages", method=method, protocol=protocol)


def lead_of(method, source):
    """PReNet's lead over a method: as published (0), with the authors' draws (1), independent (2)."""
    row = rows_of("leads", experiment="seen", metric="auc_pr", method=method).iloc[source]
    return Lead(*row[list(Lead._fields)])


def redrawn_lead(protocol="redrawn", without=()):
    means = rows_of(f"seen_{protocol}", status="exact").set_index("dataset").drop(list(without))
    return (means["auc_pr_prenet"] - means["auc_pr_devnet"]).mean()


def unseen_gap(method="xgbod", pattern="", column="reproduced"):
    """The leads of a method over PReNet on the unseen sets whose names have a pattern."""
    table = rows_of("unseen_vs_published", metric="auc_pr_weighted")
    table = table[table["dataset"].str.contains("->") & table["dataset"].str.contains(pattern)]
    table = table.pivot(index="dataset", columns="method", values=column)
    return table[method] - table["prenet"]


def kinds(method, dataset, first, second):
    table = contamination_kinds(REFERENCE)[method]
    return table.loc[dataset, first] - table.loc[dataset, second]


def contaminated(rate, suffix="", dataset=None):
    """PReNet with a contamination rate."""
    return seen("prenet", dataset, f"contamination{suffix}", value=rate)


LEVEL = ("dsad", "fsnet", "cfsnet", "pumad")


def reversed_mean():
    """XGBOD's published mean on the eight sets with the four consecutive cells reversed."""
    table = printed_xgbod()
    change = table["the four reversed"].astype(float) - table["printed, seen"].astype(float)
    return printed("xgbod") + change[["bac", "w7a"]].sum() / 8


def corrected_p(method, title):
    """The p-value of the first claim against a method, with Holm's correction."""
    (claim,) = (one for one in assessed().claims if one.claim.key == "nine-on-seen")
    return float(re.search(rf"{method} \([^()]*?p = ([\d.]+)", claim.findings[title].evidence)[1])


def lead_over_xgbod():
    """PReNet's lead on each exact data set, with the authors' draws."""
    means = rows_of("seen", status="exact")
    return means["auc_pr_prenet"] - means["auc_pr_xgbod"]


def recommended(method, n_labeled):
    """A method's mean AUC-PR with fences; trees as they are."""
    scaling = {} if method.startswith("xg") else {"scaling": "fences"}
    return number(average_auc_pr(today_runs(REFERENCE, **scaling)).loc[method, n_labeled])


def campaign_in_ucis_order(method):
    return rows_of("campaign_in_ucis_order/seen_runs", method=method)["auc_pr"].mean()


def scaled_on(dataset, scaling, method="logistic-converged"):
    runs = scaling_runs(REFERENCE).query("dataset == @dataset and scaling == @scaling and method == @method")
    return runs["auc_pr"].mean()


def mean_auc_roc(suffix=""):
    return seen("prenet", None, f"unseen{suffix}", "auc_roc", "partial")


def statements():
    """The phrases of both pages with their numbers."""
    n = number
    rec = printed_beside_lowest("seen").loc["rec"]
    own, best = own_numbers(assessed()), headline(assessed()).loc[RELEASED]
    assert best["moved by"] == "thyroid" and best["method"] == "xgbod"
    without_thyroid = best["without"]
    counts = counts_by_data(assessed().claims)["exact"]
    cut, fences = "cut", "fences"
    by_scaling = [n(behind(name)) for name in ("prepared", cut, fences)]
    without = [n(behind(name, "without thyroid")) for name in ("prepared", cut, fences)]
    rec_printed, lowest = n(rec["xgbod"]), n(rec["lowest"])
    theorem = rows_of("theorem", status="exact")
    theorem = theorem.groupby(theorem["share"].round(3)).mean(numeric_only=True)
    shares, anomalies = theorem.index, theorem["mean_score_anomalies"]
    chosen = rows_of("scaling_candidates").set_index("dataset")
    gaps = assessed().exact_cells["seen"].query("method == 'prenet' and metric == 'auc_pr'")
    gaps = gaps.set_index("dataset")["difference"]
    cells = assessed().exact_cells["seen"]
    good = cells[cells["verdict"] == "reproduced"].groupby("method").size()
    of_prenet = cells.query("method == 'prenet'").set_index("dataset")["verdict"]
    of_proved = of_prenet.loc[["thyroid", "w7a", "bac", "campaign", "celeba"]].eq("reproduced")
    of_proved = f"{of_proved.sum()} of PReNet's {len(of_proved)} values"
    smaller_leads = [seen("prenet") - seen(name) for name in ("devnet", *LEVEL)]
    range_of_leads = f"{n(min(smaller_leads))} to {n(max(smaller_leads))}"
    gains = [n(seen("dsad") - printed("dsad"), 2), n(ours("dsad-autoencoder") - printed("dsad"), 2)]
    of_xgbod, p = t_interval(-lead_over_xgbod()), f"{signed_rank_p(lead_over_xgbod()):.3f}"
    boot = lead_of("xgbod", 1)
    verdicts = (
        f"{counts['supported']} are supported, {counts['weakened']} weakened and "
        f"{counts['contradicted']} contradicted"
    )
    means = rows_of("ablation", status="exact").filter(like="auc_pr_").rename(columns=lambda name: name[7:])
    means = means.drop(columns="prenet").rsub(means["prenet"], axis=0)
    of_variants = means[["trm", "iprenet", "ldm", "a2h", "npr"]].apply(signed_rank_p)
    control = rows_of("main_claims", key="pairs").iloc[-1]
    agreement = rows_of("crosscheck_methods").set_index(["data", "method"])["ours_difference"]
    like_paper, others = (
        f"{n(agreement[data, 'prenet'])} and {n(agreement[data, 'devnet'])}"
        for data in ("features 0-1", "other features")
    )
    of_60, of_20 = (partial(recommended, n_labeled=labels) for labels in (60, 20))
    of_5 = partial(recommended, n_labeled=5)
    yield from (
        f"bac, {n(seen('prenet', 'bac'))} instead of {n(printed('prenet', 'bac'))}, misses the "
        f"tolerance of 0.01 by {abs(gaps['bac']) - 0.01:.4f}",
        f"best mean, {n(seen('prenet'))};",
        f"leads by {range_of_leads} (published: {n(lead_of('devnet', 0).mean)} to "
        f"{n(lead_of('pumad', 0).mean)}), and every",
        f"(Deep SAD by {gains[0]}, or by {gains[1]} with its",
        f"best mean of all ten, {n(seen('xgbod'))}.",
        f"It is {n(-boot.mean)}, and {n(-without_thyroid.mean)} without thyroid.",
        f"draws it is {by_scaling[0]}, and {by_scaling[1]} and {by_scaling[2]} with two",
        f"it is {without[0]}, {without[1]} and {without[2]}.",
        f"None is significant: for {n(-boot.mean)}, p is {p}",
        f"it is {rec_printed}, but no ranking of that set has an average precision below {lowest}.",
        f"these five sets, {of_proved}",
        f"over DevNet is {signed(seen('prenet') - seen('devnet'))} with `released` draws",
        f"It is {signed(redrawn_lead())} again with `redrawn` draws",
        f"Of {sum(counts.values())} claims tested on exact data, {verdicts}",
        f"the mean is {n(ours('dsad-autoencoder'))} instead of {n(seen('dsad'))}, "
        f"because w7a falls to {n(ours('dsad-autoencoder', 'w7a'))}",
        f"XGBOD {of_60('xgbod')}, logistic regression {of_60('logistic-converged')}, FSNet {of_60('fsnet')}, "
        f"XGBoost with shallow trees {of_60('xgboost-shallow')}, PReNet {of_60('prenet')}:",
        f"FSNet {of_20('fsnet')}, logistic regression {of_20('logistic-converged')}, "
        f"PReNet {of_20('prenet')}, XGBOD {of_20('xgbod')}, shallow XGBoost {of_20('xgboost-shallow')}:",
        f"logistic regression {of_5('logistic-converged')}, cFSNet {of_5('cfsnet')}, FSNet {of_5('fsnet')}, "
        f"PReNet {of_5('prenet')}; XGBOD {of_5('xgbod')}.",
        f"reaches {of_5('cross-entropy')}, {of_20('cross-entropy')} and {of_60('cross-entropy')} with",
        # REPRODUCTION.md: the answer and the summary
        f"FSNet and cFSNet, +{range_of_leads.replace('to ', 'to +')}, have",
        f"it is {lead_of('devnet', 0)} as published (DevNet) and {boot} here (XGBOD; not significant by the "
        f"paper's test, p = {p})",
        f"the lead is {without_thyroid} (all bootstrap",
        f"on rec, {rec_printed} is below the lowest possible average precision, {lowest}",
        f"{own.reproduced} of its {own.cells} values",
        f"{own.reproduced} of {own.cells} values are reproduced, {own.by_interval} of them within",
        f"the five proved sets alone, {of_proved}",
        f"test {len(assessed().claims)} claims",
        f"reproduced in {good['prenet']} of 16 cells, AUC-ROC included, and DevNet in {good['devnet']}.",
        f"thyroid by {0.01 - abs(gaps['thyroid']):.5f}.",
        f"{n(seen('prenet', 'bac'))} instead of {n(printed('prenet', 'bac'))}, misses it by "
        f"{abs(gaps['bac']) - 0.01:.4f}",
        f"are below the printed ones (p = {own.p:.3f}), by {n(-gaps.mean())} on average",
        f"and PUMAD are {range_of_leads}, its lead over DevNet is {n(seen('prenet') - seen('devnet'))}.",
        f"TRM and LDM, p is {n(of_variants['trm'])}, but {n(holm(of_variants)['trm'])} with",
        f"{sum(counts.values())} claims tested on exact data, {verdicts}",
        f"against FEAWAD, p is {corrected_p('FEAWAD', PAPER):.2f}",
        f"(mean |difference| {like_paper}), but not elsewhere ({others})",
        f"XGBOD's lead of {n(-boot.mean)} has the bootstrap interval [{n(-boot.high)}, {n(-boot.low)}] "
        f"and the t interval [{n(of_xgbod.low)}, {n(of_xgbod.high)}]",
        f"its mean is {n(ours('dsad-autoencoder'))} instead of {n(seen('dsad'))} "
        f"(published {n(printed('dsad'))})",
        # Table 2, draws, scaling
        f"it reaches {n(ours('feawad-no-zero-rows', 'w7a'))} (published {n(printed('feawad', 'w7a'))}, "
        f"with them {n(seen('feawad', 'w7a'))})",
        f"missed its own by {n(campaign_in_ucis_order('devnet') - printed('devnet', 'campaign'))}",
        f"the lead over DevNet is {signed(redrawn_lead())}, as",
        f"it is {signed(redrawn_lead('independent'))}, or {signed(redrawn_lead('independent', ['donors']))} "
        "without donors",
        f"over DevNet at the 5% level is {100 * chance_to_show(assessed()):.0f}%.",
        f"falls from {by_scaling[0]} to {by_scaling[1]} and {by_scaling[2]}",
        f"{without[0]} becomes {without[1]} with *cut* and {without[2]} with *fences*",
        f"FSNet goes from {n(scaled('fsnet', 'min-max'))}, the last of the four networks in the table, to "
        f"{n(scaled('fsnet', fences))}, the first; with *cut*, PReNet goes from first to last, at "
        f"{n(scaled('prenet', cut))}",
        f"falls from {n(scaled_on('fraud', 'prepared'))} to {n(scaled_on('fraud', cut))}",
        f"rises from {n(scaled('prenet', 'min-max', 'released'))} to {n(scaled('prenet', cut, 'released'))} "
        f"with *cut* and {n(scaled('prenet', fences, 'released'))}",
        f"{n(chosen[fences].mean())} (min-max {n(chosen['min-max'].mean())}), and lose at most "
        f"{n((chosen['min-max'] - chosen[fences]).max())} on any table",
        # docs/data.md and docs/drivers.md
        f"published value: {n(campaign_in_ucis_order('prenet'))} here, {n(printed('prenet', 'campaign'))} in",
        f"{n(campaign_in_ucis_order('devnet'))} against {n(printed('devnet', 'campaign'))}",
        f"PReNet with {n(seen('prenet', 'campaign'))} and DevNet with {n(seen('devnet', 'campaign'))}",
        # baselines, XGBOD
        f"w7a ({n(ours('dsad-autoencoder', 'w7a'))}; published {n(printed('dsad', 'w7a'))})",
        f"fraud ({n(ours('fsnet-20-updates', 'fraud'))}; published {n(printed('fsnet', 'fraud'))}) and "
        f"campaign ({n(ours('fsnet-20-updates', 'campaign'))}; {n(printed('fsnet', 'campaign'))})",
        f"no added features averages {n(seen('xgboost-shallow'))}",
        f"{n(seen('xgbod', 'w7a'))} against {n(seen('xgboost-shallow', 'w7a'))} without them",
        f"(on raw ones {n(ours('xgbod-raw-svms', 'w7a'))}; mean {n(ours('xgbod-raw-svms'))})",
        f"would then be {n(reversed_mean())}, not {n(printed('xgbod'))}; both",
        f"are far from the {n(seen('xgbod'))} measured here",
        # unseen, figures, advice, main claims
        f"on all four, by {n(-unseen_class_table(REFERENCE)['released', 'lead']['XGBOD'])} on average",
        f"too close to rank: {of_60('xgbod')}, {of_60('logistic-converged')}, {of_60('fsnet')} and "
        f"{of_60('prenet')}. XGBoost with shallow trees reaches {of_60('xgboost-shallow')} in",
        f"with fences ({of_20('dsad')} to {of_20('fsnet')}). XGBOD, {of_20('xgbod')}, is level with them; "
        f"XGBoost with shallow trees, {of_20('xgboost-shallow')}, is",
        f"p is {p}, and {corrected_p('XGBOD', OURS):.3f} with the correction",
        f"below {smallest_p(8):.4f}, and with the correction for nine methods none is below "
        f"{9 * smallest_p(8):.3f}",
        f"by {Lead(control['mean'], control['low'], control['high'])} only",
        f"on {(unseen_gap() > 0).sum()} of 28 sets, by {n(unseen_gap().mean())} on average; "
        f"FSNet is ahead on {(unseen_gap('fsnet') > 0).sum()}",
        f"on all {(unseen_gap(pattern='->bac') > 0).sum()} sets, by {n(unseen_gap(pattern='->bac').mean())}",
        f"on all {(unseen_gap(pattern='^bac->') > 0).sum()}, by {n(unseen_gap(pattern='^bac->').mean())}",
        f"is {n(mean_auc_roc('_l2=0.1'))} with the former and {n(mean_auc_roc())} with the latter",
        f"from {n(contaminated(0))} to {n(contaminated(0.1))} with `released` draws and from "
        f"{n(contaminated(0, '_independent'))} to {n(contaminated(0.1, '_independent'))} with",
        f"(w7a, {signed(contaminated(0.05, dataset='w7a') - contaminated(0, dataset='w7a'))})",
        f"one of {shares[-1]:.3f}, the mean score of anomalies, predicted to stay at 6, falls from "
        f"{n(anomalies.iloc[0], 2)} to {n(anomalies.iloc[-1], 2)}",
        f"predicted to rise from 2 to {n(theorem['predicted_normals'].iloc[-1], 2)}",
        f"with `independent` draws it is {signed(redrawn_lead('independent'))}. The intervals include 0",
        "gains " + n(kinds("xgbod", "fraud", "training only", "authors'")) + " on fraud",
    )


@pytest.fixture(scope="module")
def phrases():
    return list(statements())


def test_the_pages_state_what_the_files_have(phrases):
    texts = [words(page) for page in (*PAGES, "docs/data.md", "docs/drivers.md")]
    assert not [phrase for phrase in phrases if not any(phrase in text for text in texts)]


@pytest.mark.parametrize("page", PAGES)
def test_every_decimal_is_covered(page, phrases):
    text = words(page)
    for phrase in sorted((*phrases, *NOT_RESULTS), key=len, reverse=True):
        text = text.replace(phrase, "")
    assert not re.findall(r".{0,60}\d\.\d\d+", text)
