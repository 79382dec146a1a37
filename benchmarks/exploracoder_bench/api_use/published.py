"""What the paper reports of Codex (Measuring Novel API Use, section 5.4): 128 samples each at
temperature 0.5, from code-cushman-001 and code-davinci-002."""

from __future__ import annotations

# Table 2: share of right decodes, cushman and davinci. The two zeros for scrambled names may be
# the fault of a swap that renamed functions twice.
SEMANTICS_DOCUMENTATION = {
    "baseline": (1.000, 1.000),
    "descriptions empty": (1.000, 1.000),
    "descriptions scrambled": (1.000, 1.000),
    "names numbered": (0.497, 0.996),
    "names scrambled": (0.000, 0.000),
}
SEMANTICS_PROMPT = {
    "baseline": (1.000, 1.000),
    "description empty": (0.891, 1.000),
    "description scrambled": (0.759, 0.846),
    "name meaningless": (0.997, 1.000),
    "name adversarial": (0.998, 1.000),
}
# Figures 7 and 8 are drawings without numbers; this is what the text says of them.
COMPOSITIONALITY = "Codex falls off after about 4 calls (cushman) and 8 calls (davinci)."
ARGUMENTS = (
    "Codex solves most orders always; with out-of-domain examples the order 2, 4, 1 with the third"
    " argument fixed is solved in 0.031 (davinci) and 0.000 (cushman) of the samples."
)
DISTRACTOR = "Codex solves all, whatever the number and place of the distractors."
