/** The documents that nobody generates: what they quote is in the code, and what they lead to is there. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentEndpoints, vpcEndpoints } from '#facts/aws/vpc-endpoints.ts'

const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')]
const read = (file: string) => readFileSync(file, 'utf8')

/** Links to files, without those to sites and within the page. */
const linksOf = (text: string) =>
  [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s]+)\)/g)].map(([, link = '']) => {
    const [path = '', anchor] = link.split('#')
    return { path, anchor }
  })

/** As GitHub makes them of headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

describe('links', () => {
  it.each(documents)('%s leads to files and headings that are there', file => {
    const text = read(file)
    for (const { path, anchor } of linksOf(text)) {
      const target = normalize(join(dirname(file), path))
      expect({ path, isThere: existsSync(target) }).toEqual({ path, isThere: true })
      if (anchor !== undefined && target.endsWith('.md'))
        expect(anchorsOf(read(target))).toContain(anchor)
    }
    for (const [, anchor = ''] of text.matchAll(/\]\(#([^)\s]+)\)/g))
      expect(anchorsOf(text)).toContain(anchor)
  })

  it.each(globSync('docs/**/*.md').filter(file => !file.startsWith('docs/dev/')))(
    '%s is reached from the README',
    file => {
      const reached = new Set<string>()
      const follow = (from: string) => {
        if (reached.has(from) || !existsSync(from)) return
        reached.add(from)
        if (from.endsWith('.md'))
          for (const { path } of linksOf(read(from))) follow(normalize(join(dirname(from), path)))
      }
      follow('README.md')
      const isReached = reached.has(file) || reached.has(dirname(file))
      expect({ file, isReached }).toEqual({ file, isReached: true })
    },
  )
})

describe('docs/troubleshooting.md', () => {
  // What a message is made of in the code: texts between the places where names are filled in.
  const code = globSync('src/**/*.ts')
    .map(read)
    .join('\n')
    .replace(/\\'/g, "'")
    // A text that goes on in the next line.
    .replace(/['`] \+\n\s*['`]/g, '')
  const rows = read('docs/troubleshooting.md')
    .split('\n')
    .filter(line => /^\| `/.test(line))
    .map(line => line.split(' | ')[0] ?? '')
  const quoted = rows.map(cell =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) =>
      text.split('…').map(part => part.trim()),
    ),
  )

  it('has messages', () => {
    expect(rows.length).toBeGreaterThan(40)
    for (const parts of quoted)
      expect(Math.max(...parts.map(({ length }) => length))).toBeGreaterThanOrEqual(10)
  })

  it.each(rows.map((row, index) => [row, quoted[index] ?? []] as const))(
    '%s is in the code',
    (_, parts) => {
      expect(parts.filter(part => part.length > 2 && !code.includes(part))).toEqual([])
    },
  )
})

describe('docs/air-gapped.md', () => {
  const text = read('docs/air-gapped.md')

  it('names every endpoint with what needs it, and no other', () => {
    const rows = [...text.matchAll(/^\| `([a-z0-9]+)` \| (\w+) \| (.+) \|$/gm)].map(
      ([, name, type, when]) => ({ name, type, when }),
    )
    expect(rows).toEqual(vpcEndpoints.map(({ name, type, when }) => ({ name, type, when })))
    for (const name of agentEndpoints) expect(text).toContain(`\`${name}\``)
  })
})
