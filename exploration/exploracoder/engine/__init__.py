"""The method: plan, recommend, explore, debug, select, synthesize."""
