/** Whether a name matches a pattern. `*` matches any characters; all others are literal. */
export function matchesGlob(pattern: string, name: string) {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return name === head
  if (!name.startsWith(head) || name.length < head.length + tail.length || !name.endsWith(tail))
    return false
  let from = head.length
  for (const part of rest) {
    const at = name.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return from <= name.length - tail.length
}
