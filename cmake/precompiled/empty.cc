// A precompiled header belongs to a target with at least one source.
