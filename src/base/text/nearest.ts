/** Known names that are similar to a misspelt one. */

const mostNames = 3
/** A name that shares less than this with the written name is not similar. */
const leastShared = 0.5

/** Names within this distance of the best match are listed with it. */
const muchAlike = 0.1

/** The most similar names, best first. Part of a name counts as similar, like a typing error. */
export function nearest(written: string, names: readonly string[]) {
  const sought = written.toLowerCase().slice(0, 80)
  const scored = names.map(name => ({ name, shared: sharedPart(sought, name) }))
  const best = Math.max(leastShared, ...scored.map(({ shared }) => shared - muchAlike))
  return scored
    .filter(({ shared }) => shared >= best)
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, mostNames)
    .map(({ name }) => name)
}

function sharedPart(written: string, name: string) {
  if (written.length > 3 && name.includes(written)) return 0.9
  return 1 - editDistance(written, name) / Math.max(written.length, name.length)
}

/** Levenshtein: how many characters to insert, delete or replace. */
function editDistance(from: string, to: string) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, character] of [...from].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...to].entries())
      next.push(
        Math.min(
          row[index + 1]! + 1,
          next[index]! + 1,
          row[index]! + (character === other ? 0 : 1),
        ),
      )
    row = next
  }
  return row.at(-1)!
}

/** The question begins with a blank; empty: no name is similar. */
export function didYouMean(written: string, names: readonly string[]) {
  const near = nearest(written, names)
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
}
