/**
 * Secrets that this process sends, such as a token or a webhook's address. The receiver may repeat a secret in its answer, plain or
 * encoded. Each of these forms is removed from the answer.
 */

/** Shorter texts occur in ordinary words. */
const shortestSecret = 6
/** Tokens are longer. A search for each of their forms would take a tenth of the time in which an answer is parsed. */
const longForm = 512
const partLength = 24
const plain = /^[\w.~%+/=-]+$/

export class SentSecrets {
  readonly #forms = new Set<string>()
  /** Long forms of plain characters. */
  readonly #long = new Set<string>()
  #allLong = ''
  /** A text that contains a long form has one of its parts at a multiple of this place. */
  #step = Number.POSITIVE_INFINITY

  add(secret: string) {
    if (secret.length < shortestSecret || this.#forms.has(secret)) return
    for (const form of formsOf(secret)) {
      this.#forms.add(form)
      if (form.length < longForm || !plain.test(form)) continue
      this.#long.add(form)
      this.#allLong += `${form}\n`
      this.#step = Math.min(this.#step, form.length - partLength + 1)
    }
  }

  /** Adds an Authorization header without its scheme. Basic credentials are added decoded, too. */
  addAuthorization(header: string) {
    const [scheme = '', ...rest] = header.split(' ')
    const credentials = rest.length === 0 ? scheme : rest.join(' ')
    this.add(credentials)
    if (scheme.toLowerCase() !== 'basic') return
    const decoded = Buffer.from(credentials, 'base64').toString()
    this.add(decoded)
    this.add(decoded.slice(decoded.indexOf(':') + 1))
  }

  /** Adds a URL. Only its host is public. */
  addUrl(url: string) {
    const { pathname, search, hash, searchParams } = new URL(url)
    const wholes = [`${pathname}${search}${hash}`, pathname, search.slice(1), hash.slice(1)]
    for (const part of [...wholes, ...pathname.split('/'), ...searchParams.values()]) this.add(part)
  }

  /** @param instead replaces each secret */
  removeFrom(text: string, instead = '(removed)') {
    let clean = text
    const mayHaveLong = this.#mayHaveLong(text)
    for (const form of this.#forms)
      if ((mayHaveLong || !this.#long.has(form)) && clean.includes(form))
        clean = clean.replaceAll(form, instead)
    return clean
  }

  #mayHaveLong(text: string) {
    for (let at = 0; at <= text.length - partLength; at += this.#step) {
      const part = text.slice(at, at + partLength)
      if (plain.test(part) && this.#allLong.includes(part)) return true
    }
    return false
  }
}

/** All forms of a secret. The longest comes first, so that no part of a longer form remains. */
function formsOf(secret: string) {
  const plain = [secret, decodeUri(secret)]
  const forms = plain.flatMap(text => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    text.replaceAll('/', '\\/'),
    Buffer.from(text).toString('hex'),
    ...base64Forms(text),
  ])
  return [...new Set(forms)]
    .filter(form => form.length >= shortestSecret)
    .sort((a, b) => b.length - a.length)
}

function decodeUri(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Base64 forms of a text inside a longer text, for each offset within three bytes. Characters that depend on the neighbours are cut off. */
function base64Forms(text: string) {
  return [0, 1, 2].flatMap(offset => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
    const whole = bytes.toString('base64').replace(/={1,2}$/, '')
    const end = bytes.length % 3 === 0 ? whole.length : whole.length - 1
    const form = whole.slice(Math.ceil((offset * 8) / 6), end)
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
