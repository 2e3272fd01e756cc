"""The claims that a study's own figures speak against."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from knightfall.studies.published.published import Claim, Erratum, Study


def contradictions(study: Study) -> list[Erratum]:
    """The figures behind every claim that they speak against, taken at their face value."""
    found = []
    for claim in study.claims:
        if claim.measure != "games" or claim.against is not None:
            continue  # no figure of the study is about that alone
        against = [text for a, b in claim.pairs for text in _against(study, claim, a, b)]
        if against:
            text = f"The study's own figures: {'; '.join(against)}."
            found.append(Erratum(f"“{claim.sentence}”", text, "claims"))
    return found


def _against(study: Study, claim: Claim, a: str, b: str) -> Iterator[str]:
    mine, theirs = claim.published[a], claim.published[b]
    ahead = mine - theirs
    least, most = claim.between or (-inf, inf)
    if (
        (claim.form == "better" and ahead <= 0)
        or (claim.form == "not_better" and ahead > 0)
        or not least <= ahead <= most
    ):
        yield f"{a} {mine} %, {b} {theirs} %"
    if claim.tournaments:
        won, of = claim.tournaments
        rows = zip(study.tournaments[a], study.tournaments[b], strict=True)
        readable = [one > two for one, two in rows if one is not None and two is not None]
        if sum(readable) > won or len(readable) - sum(readable) > of - won:
            yield f"{a} is ahead of {b} in {sum(readable)} of {len(readable)} readable tournaments"
