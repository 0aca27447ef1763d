/** What one function of the service may take. */

/** The most that Lambda gives, and what the stack asks for. */
const functionSeconds = 900

/** Kept free at the end for judging, rendering and publishing. */
export const publishingShare = 0.2

/** And what it therefore reads for at most. */
export const readingSeconds = functionSeconds * (1 - publishingShare)
