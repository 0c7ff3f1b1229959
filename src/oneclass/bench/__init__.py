"""The paper's experiments, rerun: recipes, a resumable runner, tables, figures and statistics."""
