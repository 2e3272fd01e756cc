"""The published studies: their results and claims as data, and playing them again."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={"student": "knightfall.studies.student_options:StudentAgent"},
    tables={"studies": "knightfall.studies.study_files:heuristic_table"},
    commands={"reproduce": "knightfall.studies.commands:reproduce"},
    panels={"reproduce": "Teach"},
    functions={"reproduce": "knightfall.studies.reproduction:reproduce"},
    pages={"studies": "knightfall.studies.lab_view:STUDIES"},
)
