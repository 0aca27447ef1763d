/**
 * Parses YAML, TOML and gzip which somebody else wrote: user data, files of a node, plans, the policy. Only this file calls a parser of YAML or TOML.
 * Cost is linear in the text and bounded by a budget of the whole source. Parsing stops at the first error.
 */
import { parse, TomlError } from 'smol-toml'
import {
  Composer,
  CST,
  type Document,
  isNode,
  isScalar,
  Lexer,
  type LineCounter,
  Parser,
  visit,
} from 'yaml'
import { type GzipFlaw, gunzip } from './gzip.ts'
import { maxCompressionRatio, type TextLimits } from './limits.ts'

/** Why a text is not parsed. The message never quotes the text. */
export class ForeignTextError extends Error {
  /** From 1. Null: the mistake is on no certain line. */
  readonly line: number | null

  constructor(message: string, line: number | null = null) {
    super(message)
    this.line = line
  }
}
/** The source has used up its budget, so its other texts cannot be parsed either. */
export class BudgetExceeded extends ForeignTextError {}

/** What the texts of one source may still cost. */
export class TextBudget {
  readonly #left: TextLimits
  readonly #whole: TextBudget | null

  /** @param whole budget of several sources, which pays, too */
  constructor(limits: TextLimits, whole: TextBudget | null = null) {
    this.#left = { ...limits }
    this.#whole = whole
  }

  get maxUnpackedBytes(): number {
    const { maxUnpackedBytes } = this.#left
    return Math.min(maxUnpackedBytes, this.#whole?.maxUnpackedBytes ?? maxUnpackedBytes)
  }

  /** @throws BudgetExceeded */
  spend(what: keyof TextLimits, count: number): void {
    this.#left[what] -= count
    if (this.#left[what] < 0) throw new BudgetExceeded(excess[what])
    this.#whole?.spend(what, count)
  }
}

const excess: Record<keyof TextLimits, string> = {
  maxCharacters: 'it has more text than is read',
  maxTokens: 'it has more values than are read',
  maxUnpackedBytes: 'unpacked, it is longer than is read',
}

export interface YamlForm {
  /** Default: 1.2. */
  version?: '1.1'
  /** Default: of two equal keys the last one counts. */
  hasUniqueKeys?: boolean
  /** Default: aliases may expand to 20 values. */
  hasAliases?: false
  /** Default: a second document is refused. */
  isFirstDocumentOnly?: boolean
  lineCounter?: LineCounter
}

/** Tokens that a document costs before its first one: its schema and parsers. */
const documentTokens = 10
/** Open collections. A real configuration has at most 12. */
const maxDepth = 64
/** Each alias is searched among all anchors. */
const maxAliases = 100

/** The library's codes in words. */
const mistakes: Readonly<Record<string, string>> = {
  ALIASES: 'it has too many aliases',
  BAD_INDENT: 'a line is indented wrongly, or a bracket before it is not closed',
  BLOCK_IN_FLOW: 'a bracket is not closed',
  DEPTH: 'it is nested too deeply',
  DUPLICATE_KEY: 'a key stands twice',
  KEY: 'a key is no text',
  MISSING_CHAR: 'a bracket, a quote, a comma or a colon is missing',
  MULTIPLE_DOCS: 'it has a second document',
  TAB_AS_INDENT: 'a tab indents a line',
}

/** A mistake in YAML. */
export class YamlError extends ForeignTextError {
  readonly code: string
  /** Names the mistake. May quote a part of the text. */
  readonly detail: string
  readonly offset: number

  constructor(code: string, detail: string, offset: number) {
    super(`it is no YAML that is read here: ${mistakes[code] ?? 'its form is wrong'}`)
    this.code = code
    this.detail = detail
    this.offset = offset
  }
}

/** Parses a YAML document. @throws ForeignTextError, YamlError at the first mistake */
export function composeYaml(text: string, budget: TextBudget, form: YamlForm = {}): Document {
  budget.spend('maxCharacters', text.length)
  budget.spend('maxTokens', documentTokens)
  const composer = composerOf(form)
  let hasDocument = false
  for (const token of tokensOf(text, budget, form.lineCounter)) {
    if (token.type === 'error') throw new YamlError('UNEXPECTED_TOKEN', token.message, token.offset)
    if (token.type === 'document' && hasDocument) {
      if (form.isFirstDocumentOnly) break
      throw new YamlError('MULTIPLE_DOCS', 'A second document begins here', token.offset)
    }
    hasDocument ||= token.type === 'document'
    // A document is yielded at the end, because the lines after it belong to it.
    Array.from(composer.next(token))
  }
  const [document] = composer.end(true, text.length)
  if (!document) throw new YamlError('IMPOSSIBLE', 'It has no document', 0)
  checkKeys(document, form.hasUniqueKeys ?? false)
  return document
}

/** Parses a YAML document to plain values. @throws ForeignTextError */
export const parseYaml = (text: string, budget: TextBudget, form: YamlForm = {}): unknown =>
  yamlValue(composeYaml(text, budget, form), form.hasAliases)

/** @throws ForeignTextError if aliases expand too often, or expand to themselves */
export function yamlValue(document: Document, hasAliases = true): unknown {
  try {
    return document.toJS({ maxAliasCount: hasAliases ? 20 : 0 })
  } catch {
    throw new ForeignTextError('its aliases cannot be expanded')
  }
}

/** The first error ends the parsing: the library would collect all of them, at a cost that grows faster than the text. */
function composerOf({ version }: YamlForm): Composer {
  const composer = new Composer({
    ...(version && { version }),
    // The library takes quadratic time to check for equal keys, and for the collections of YAML 1.1.
    uniqueKeys: false,
    resolveKnownTags: false,
    customTags: tags => tags.filter(tag => typeof tag === 'string' || isTagOfGo(tag)),
  })
  let first: YamlError | null = null
  const onError: ErrorHandler = (source, code, message, isWarning = false) => {
    if (isWarning) return
    // The library catches what is thrown in a collection, and reports it as another error.
    first ??= new YamlError(code, message, offsetOf(source))
    throw first
  }
  return Object.assign(composer, { onError })
}

/** Go's libraries read neither sexagesimal numbers nor the collections of YAML 1.1, and dates stay texts. Source: go.yaml.in/yaml/v2 resolve.go */
const isTagOfGo = ({ tag, format }: { tag: string; format?: string }) =>
  !/:(omap|pairs|set|timestamp)$/.test(tag) && format !== 'TIME'

type ErrorSource = number | readonly number[] | { offset: number }
type ErrorHandler = (
  source: ErrorSource,
  code: string,
  message: string,
  isWarning?: boolean,
) => void

function offsetOf(source: ErrorSource) {
  if (typeof source === 'number') return source
  return 'offset' in source ? source.offset : (source[0] ?? 0)
}

/** @throws BudgetExceeded, YamlError */
function* tokensOf(
  text: string,
  budget: TextBudget,
  lineCounter?: LineCounter,
): Iterable<CST.Token> {
  const parser = new Parser(lineCounter?.addNewLine)
  lineCounter?.addNewLine(0)
  let aliases = 0
  let isScalarNext = false
  for (const lexeme of new Lexer().lex(text)) {
    const isMark = lexeme === CST.SCALAR
    if (!isMark) budget.spend('maxTokens', 1)
    if (!isScalarNext && lexeme.startsWith('*') && ++aliases > maxAliases)
      throw new YamlError('ALIASES', `It has more than ${maxAliases} aliases`, parser.offset)
    isScalarNext = isMark
    yield* parser.next(lexeme)
    if (parser.stack.length > maxDepth)
      throw new YamlError('DEPTH', `It is nested deeper than ${maxDepth}`, parser.offset)
  }
  yield* parser.end()
}

/** Refuses keys that are collections, because the library writes each as a text; and equal keys, if they are not allowed. @throws YamlError */
function checkKeys(document: Document, areUnique: boolean) {
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key) && key !== null)
          throw new YamlError('KEY', 'A key is no text', isNode(key) ? (key.range?.[0] ?? 0) : 0)
        const value = key?.value
        if (areUnique && seen.has(value))
          throw new YamlError('DUPLICATE_KEY', 'Map keys must be unique', key?.range?.[0] ?? 0)
        seen.add(value)
      }
    },
  })
}

/** @throws ForeignTextError, with the number of the line */
export function parseToml(text: string, budget: TextBudget): Record<string, unknown> {
  budget.spend('maxCharacters', text.length)
  try {
    return parse(text, { maxDepth })
  } catch (error) {
    // The library's message quotes the text, so it is replaced.
    throw new ForeignTextError(
      error instanceof TomlError ? `line ${error.line} is no TOML` : 'its TOML cannot be read',
      error instanceof TomlError ? error.line : null,
    )
  }
}

/** @throws ForeignTextError */
export function unpackGzip(packed: Buffer, budget: TextBudget): Buffer {
  const bytes = gunzip(packed, budget.maxUnpackedBytes)
  if (typeof bytes === 'string') throw new ForeignTextError(gzipFlaws[bytes])
  budget.spend('maxUnpackedBytes', bytes.length)
  return bytes
}

const gzipFlaws: Record<GzipFlaw, string> = {
  'too-long': excess.maxUnpackedBytes,
  ratio: `it is more than ${maxCompressionRatio} times as long as its gzip`,
  broken: 'it cannot be unpacked',
}
