import { parseDocument } from 'yaml'
import { isRawObject, type RawObject } from '#model/record.ts'

/** The scripts take no longer file. */
const longest = 256 * 1024

/**
 * A configuration file's text as the kubelet's reader takes it: YAML 1.1, of which JSON is a part. A key that stands twice is none of ours to choose from,
 * and an alias can blow up a small text, so neither is followed.
 */
export function parseYamlObject(text: string): { value: RawObject; reason: '' } | { value: null; reason: string } {
  if (text.length > longest) return { value: null, reason: `it has ${text.length} characters: no configuration is that long` }
  try {
    const document = parseDocument(text, { version: '1.1', uniqueKeys: true, prettyErrors: false, logLevel: 'silent' })
    const [error] = document.errors
    if (error !== undefined) return { value: null, reason: `it is no YAML that is read here (${error.code})` }
    const value: unknown = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 0 })) ?? 'null')
    return isRawObject(value) ? { value, reason: '' } : { value: null, reason: 'its YAML is no object' }
  } catch {
    // The message would quote the text.
    return { value: null, reason: 'it is no YAML that is read here' }
  }
}
