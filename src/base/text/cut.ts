/** At most `limit` UTF-16 units, and never half of a surrogate pair. */
export const cut = (text: string, limit: number) =>
  text.length > limit ? `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
