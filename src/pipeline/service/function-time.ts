/** Time limits of a function of the service. */

/** Lambda's maximum, which the stack sets. */
const functionSeconds = 900

/** Kept free at the end for judging, rendering and publishing. */
export const publishingShare = 0.2

/** Maximum time for reading. */
export const readingSeconds = functionSeconds * (1 - publishingShare)
