// Exists so that the precompiled MLIR headers have a target to belong to.
