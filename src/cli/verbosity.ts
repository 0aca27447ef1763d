/** How much this run of the CLI prints: set once, by the options `--quiet` and `--verbose`. */
export const verbosity = { isQuiet: false, isVerbose: false }
