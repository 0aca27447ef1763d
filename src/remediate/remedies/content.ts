/** As a document's parameter takes a file: gzipped, and in base64. */
export const longestContent = 24_000
