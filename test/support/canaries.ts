/** Canaries: secrets of many forms, each with a number of its own, planted into every text of a record. */
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { Shape } from '#model/input/shape.ts'
import { base64, doubtfulShapes, furtherShapes, secretShapes } from '#test/secret-shapes.ts'

const number = (index: number) => `CANARY${String(index).padStart(5, '0')}`

/** Each form holds the canary's number in clear text. */
const forms: readonly ((canary: string) => string)[] = [
  canary => `password=${canary}`,
  canary => `Authorization: Bearer ${canary}`,
  canary => `Bearer ${canary}`,
  canary => `https://bob:${canary}@registry.example.com/v2/`,
  canary => `https://blob.example.com/layer?sv=2022&sig=${canary}&se=1`,
  canary =>
    `https://s3.example.com/layer?X-Amz-Security-Token=IQoJb3${canary}&X-Amz-Signature=${canary}`,
  canary => `eyJhbGciOiJSUzI1NiJ9.${canary}abcdefgh.${canary}`,
  canary => `AKIA${canary}ABCDE`,
  canary => `ASIA${canary}ABCDE`,
  canary => `IQoJb3JpZ2lu${canary}`,
  canary => `-----BEGIN RSA PRIVATE KEY-----\n${canary}\n-----END RSA PRIVATE KEY-----`,
  canary => `--from-literal=pw='${canary}'`,
  canary => `passwd is ${canary}`,
  canary => `token: ${canary}`,
  canary => `{"password":"${canary}"}`,
  canary => `{\\"auth\\":\\"${canary}\\"}`,
  canary => `ghp_${canary}abcdefghijklmnop`,
  canary => `xoxb-1234-${canary}-abcdef`,
  canary => `AIza${canary}abcdefghijklmnopqr`,
  canary => `bob:${canary}@registry.example.com/app:1`,
  canary => `k8s-aws-v1.${canary}`,
  canary => `--password ${canary}`,
  canary => `secret_key%3D${canary}`,
  canary => `EnvVar{Name:DB,Value:${canary},ValueFrom:nil,}`,
  canary => `{"auths":{"r.example.com":{"auth":"${canary}"}}}`,
  canary => `AccountKey=${canary}==;EndpointSuffix=core.windows.net`,
  canary => `/v1/spaces/x/messages?key=${canary}`,
  canary => `X-Amz-Credential=${canary}`,
  canary => `glpat-${canary}abcdef`,
  canary => `curl -u bob:${canary}`,
  ...secretShapes.map(([, text]) => text),
]
/** Planted one after another, not each into each field. */
const furtherForms = [...furtherShapes, ...doubtfulShapes].map(([, text]) => text)
const allForms = [...forms, ...furtherForms]

export const formCount = forms.length

/** Any form in which a canary may be seen: in clear text, or as base64 at each of the three alignments. */
const seenForms = /CANARY\d{5}|Q0FOQVJZ|NBTkFSW|DQU5BUl/g
export const canariesIn = (text: string): string[] => [...new Set(text.match(seenForms) ?? [])]

export class Canaries {
  readonly #paths: string[] = []
  readonly #isKept: (field: string, path: string) => boolean
  #forms: number

  /**
   * @param isKept whether a field stays as it is, because records are joined by it
   * @param firstForm number of the form of the first canary
   */
  constructor(isKept: (field: string, path: string) => boolean, firstForm = 0) {
    this.#isKept = isKept
    this.#forms = firstForm
  }

  get count(): number {
    return this.#paths.length
  }

  /** All forms were used. */
  get isComplete(): boolean {
    return this.#forms >= allForms.length
  }

  pathOf(canary: string): string {
    return this.#paths[Number(canary.replace(/\D/g, ''))] ?? canary
  }

  /** A secret in prose. */
  next(path: string): string {
    const canary = number(this.#paths.length)
    this.#paths.push(path)
    const form = allForms[this.#forms++ % allForms.length] as (canary: string) => string
    return `could not: ${form(canary)}`
  }

  /** A copy with a canary behind each text whose turn it is. @param every one text in so many, so that the others still mean something */
  plant<T>(value: T, every: number, path: string, field = ''): T {
    if (typeof value === 'string') {
      this.#turn += 1
      if (this.#isKept(field, path) || this.#turn % every !== 0) return value
      return `${value} ${this.next(path)}` as T
    }
    if (Array.isArray(value))
      return value.map((item, index) => this.plant(item, every, `${path}[${index}]`, field)) as T
    if (!isRawObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        this.plant(inner, every, `${path}.${name}`, name),
      ]),
    ) as T
  }

  #turn = 0

  /** A value with every field of a shape, and a canary in each text that may hold one. */
  filled(shape: Shape, path: string, field = ''): unknown {
    if (typeof shape === 'object' && 'maxLength' in shape) return this.filled('text', path, field)
    if (typeof shape === 'object' && shape.constructor !== Object)
      return [this.filled((shape as { item: Shape }).item, `${path}[]`, field)]
    if (typeof shape === 'object')
      return Object.fromEntries(
        Object.entries(shape).map(([name, inner]) => [
          name,
          this.filled(inner, `${path}.${name}`, name),
        ]),
      )
    const isKept = this.#isKept(field, path)
    const one = () => (isKept ? 'kept' : this.next(path))
    switch (shape) {
      case 'number':
      case 'integer':
      case 'statistic':
        return 7
      case 'boolean':
        return true
      case 'texts':
      case 'quantities':
      case 'map':
        return { rotate: one(), [`${field}-of-it`]: one() }
      case true:
        return { message: one(), deep: [one(), { reason: one() }] }
      default:
        return one()
    }
  }

  /** Fields that hold secrets on real objects, and that highwater has no use for. */
  hiddenIn(path: string): RawObject {
    const canary = (field: string) => this.next(`${path}.${field}`)
    return {
      annotations: {
        note: canary('annotations'),
        'kubectl.kubernetes.io/last-applied-configuration': canary('last'),
      },
      managedFields: [{ manager: canary('managedFields') }],
      env: [{ name: 'DB', value: canary('env') }],
      args: [canary('args')],
      command: [canary('command')],
      data: { value: base64(canary('data')), token: canary('data.token') },
      stringData: { value: canary('stringData') },
      unknownToHighwater: { deep: [canary('unknown')] },
    }
  }
}
