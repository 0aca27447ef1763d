/** CloudFormation templates as YAML with short forms (`!Ref`). Source: CloudFormation user guide, intrinsic functions. */
import {
  Document,
  isScalar,
  isSeq,
  type Node,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

/** @param template with the long forms, `{ 'Fn::Sub': … }` */
export function cloudFormationYaml(template: object): string {
  // CloudFormation reads YAML 1.1: on, off, yes and no need quotes.
  const document = new Document(template, { version: '1.1', aliasDuplicateObjects: false })
  visit(document, { Map: (_, map) => shortForm(map) })
  visit(document, {
    Seq: (_, list) => {
      list.flow = isShort(list)
    },
  })
  return document.toString({ lineWidth: 160, flowCollectionPadding: true, directives: false })
}

/** Wraps texts with references such as `${AWS::Region}` in Fn::Sub, so that CloudFormation resolves them. */
export function substituted(node: unknown): unknown {
  if (typeof node === 'string') return node.includes('${') ? { 'Fn::Sub': node } : node
  if (Array.isArray(node)) return node.map(substituted)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, substituted(value)]))
}

/** `{ Fn::Sub: text }` → `!Sub text` */
function shortForm(map: YAMLMap): Node | undefined {
  const [pair, ...others] = map.items
  const name = isScalar(pair?.key) ? String(pair.key.value) : ''
  const isCondition = name === 'Condition' && isScalar(pair?.value)
  if (others.length > 0 || !(name === 'Ref' || name.startsWith('Fn::') || isCondition))
    return undefined
  const value = pair?.value
  const parts = isSeq(value) ? value.items : []
  // The short form of GetAtt joins its path with dots.
  const isPath = name === 'Fn::GetAtt' && parts.every(part => isScalar(part))
  const short = isPath
    ? new Scalar(parts.map(part => isScalar(part) && part.value).join('.'))
    : value
  if (!isScalar(short) && !isSeq(short)) return undefined
  short.tag = `!${name.replace('Fn::', '')}`
  return short
}

const mostInFlow = 8
const isShort = (list: YAMLSeq): boolean =>
  list.items.length <= mostInFlow &&
  list.items.every(item => isScalar(item) || (isSeq(item) && isShort(item)))
