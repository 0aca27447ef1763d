/** The documents of YAML and JSON that set fields of a kubelet, by their kind. */

import { dirname, join } from 'node:path'
import { BudgetExceeded, ForeignTextError, parseYaml, type TextBudget } from '#base/foreign-text.ts'
import { isRawObject, itemsOf, mapOf, type RawObject, textOfValue } from '#base/raw-object.ts'
import { type LocatedText, openYaml, placesIn, type YamlPlace } from '#base/yaml-place.ts'
import { bottlerocketPiece, linesIn, pieceOfNodeConfig } from '#clients/user-data/settings.ts'
import { refusedByEksctl } from '#facts/eks/eksctl.ts'
import { nodeClassFields, nodeClassKubeletFields } from '#facts/eks/karpenter.ts'
import { nearestName } from '#facts/kubelet/fields.ts'
import { unusedByCustom } from '#judge/drift/declared.ts'
import { isExpression } from '#judge/drift/drift.ts'
import { isConfigurationField } from '#model/kubelet/settings.ts'
import { isStack, takeStack } from './cloud-formation.ts'
import { takeLaunchTemplate, takeNodegroup } from './controllers.ts'
import {
  clusterIn,
  type FileProblem,
  type FileReading,
  fileProblem,
  knownName,
  mostParts,
  settingMistakes,
  takePiece,
  takeUserData,
} from './user-data-parts.ts'
import {
  mountsDisks,
  refusedVolumes,
  unclearVolumes,
  unnamedVolumes,
  volumeOf,
  volumesIn,
  withVolumes,
} from './volumes.ts'

/** By API group and kind. `*`: any kind. Others are ignored. */
const takers: Readonly<Record<string, (reading: FileReading, place: YamlPlace) => void>> = {
  '/List': (reading, place) => {
    for (const item of placesIn(place.at('items'))) takeDocument(reading, item)
  },
  '/Kustomization': takeKustomization,
  'kustomize.config.k8s.io/*': takeKustomization,
  'node.eks.aws/*': (reading, place) => {
    const piece = pieceOfNodeConfig(place)
    takePiece(reading, piece, clusterIn([piece]), 'NodeConfig')
  },
  'karpenter.k8s.aws/EC2NodeClass': takeNodeClass,
  'karpenter.sh/NodePool': takeNodePool,
  'eksctl.io/*': takeClusterConfig,
  ...Object.fromEntries(
    ['aws.upbound.io', 'aws.m.upbound.io', 'aws.crossplane.io', 'services.k8s.aws'].flatMap(
      group => [
        [`eks.${group}/NodeGroup`, takeNodegroup],
        [`eks.${group}/Nodegroup`, takeNodegroup],
        [`ec2.${group}/LaunchTemplate`, takeLaunchTemplate],
      ],
    ),
  ),
}

const kinds = [
  ...Object.keys(takers).filter(kind => !/^e(?:ks|c2)\./.test(kind)),
  'kubelet.config.k8s.io/KubeletConfiguration',
  'eksctl.io/ClusterConfig',
]

/** @throws ForeignTextError */
export function takeDocument(reading: FileReading, place: YamlPlace) {
  const { value } = place
  if (Array.isArray(value)) takeOperations(reading, patchedObject(place), null)
  if (!isRawObject(value)) return
  const { apiVersion = '', kind = '' } = value
  if (kind === 'KubeletConfiguration' || isKubeletFile(value)) {
    reading.parts.push({
      kind: 'KubeletConfiguration',
      file: reading.file,
      target: {},
      lineOf: linesIn(place),
      config: value,
      flags: [],
      by: 'file',
      refusals: [],
    })
    return
  }
  const version = String(apiVersion)
  const group = version.includes('/') ? version.split('/')[0] : ''
  const [taker] = [`${group}/${kind}`, `${group}/*`].filter(key => Object.hasOwn(takers, key))
  if (isMisspelt(`${group}/${kind}`)) refuseKind(reading, place)
  else if (isKustomization(value)) takeKustomization(reading, place)
  else if (taker !== undefined) takers[taker]?.(reading, place)
  else if (isStack(value)) takeStack(reading, place)
  else for (const key of Object.keys(value)) takeInner(reading, place.at(key))
}

const isMisspelt = (kind: string) =>
  kinds.some(known => known !== kind && known.toLowerCase() === kind.toLowerCase())

/** The answer of an API server, kubelet or eksctl to a kind in other letters. */
function refuseKind(reading: FileReading, place: YamlPlace) {
  const { apiVersion, kind } = mapOf(place.value)
  const text = `no kind "${kind}" is registered for version "${apiVersion}"`
  reading.problems.push(fileProblem('unparsed', place.lineOf('kind'), `Refused: ${text}.`))
}

/** Charts of Helm have their objects at most this deep in their values. */
const deepestInner = 10

/** Objects of Karpenter within another one, such as values of Helm: as maps, or as texts. */
function takeInner(reading: FileReading, place: YamlPlace, depth = 1) {
  const { value } = place
  if (depth > deepestInner) return
  if (typeof value === 'string' && isOfKarpenter.test(value)) takeText(reading, place.textAt())
  else if (isRawObject(value) && isOfKarpenter.test(`apiVersion: ${value.apiVersion}`))
    takeDocument(reading, place)
  else if (typeof value === 'object' && value !== null)
    for (const key of Object.keys(value)) takeInner(reading, place.at(key), depth + 1)
}

const isOfKarpenter = /^[ \t-]*apiVersion: *["']?karpenter\./m

function takeText(reading: FileReading, located: LocatedText) {
  try {
    const place = openYaml(located, reading.budget)
    if (Array.isArray(place.value)) takeInner(reading, place)
    else takeDocument(reading, place)
  } catch (error) {
    if (error instanceof BudgetExceeded || !(error instanceof ForeignTextError)) throw error
    const text = `The object of Karpenter is not judged: ${error.message}.`
    reading.problems.push(fileProblem('note', error.line ?? located.fileLine(1), text))
  }
}

/** A file that forgot its kind, which the kubelet refuses. */
const isKubeletFile = ({ kind, apiVersion, ...fields }: RawObject) =>
  kind === undefined &&
  apiVersion === undefined &&
  Object.keys(fields).length > 0 &&
  Object.keys(fields).every(isConfigurationField) &&
  Object.keys(fields).some(field => /^(eviction|imageGC|kubeReserved|systemReserved)/.test(field))

/** A kustomization may leave out its kind. Source: kustomize, api/types/kustomization.go FixKustomizationPostUnmarshalling */
const isKustomization = ({ kind, apiVersion, ...fields }: RawObject) =>
  kind === undefined &&
  apiVersion === undefined &&
  ['patches', 'patchesJson6902', 'patchesStrategicMerge'].some(list => Array.isArray(fields[list]))

/** Patches that are written in the file itself. Source: kustomize, api/types/kustomization.go; api/types/selector.go */
function takeKustomization(reading: FileReading, place: YamlPlace) {
  const take = (patch: YamlPlace, target: unknown) => {
    if (typeof patch.value === 'string')
      takePatch(reading, openYaml(patch.textAt(), reading.budget), target)
  }
  for (const list of listsOfPatches)
    for (const item of placesIn(place.at(list)))
      take(item.at('patch'), targetIn(mapOf(place.value), item.at('target').value))
  for (const item of placesIn(place.at('patchesStrategicMerge'))) take(item, null)
}

/** A prefix or a suffix makes another name of each. */
const targetIn = ({ namePrefix, nameSuffix }: RawObject, target: unknown) =>
  isRawObject(target) && `${namePrefix ?? ''}${nameSuffix ?? ''}` !== ''
    ? { ...target, name: '' }
    : target

const listsOfPatches = ['patches', 'patchesJson6902'] as const

/** @param target what a kustomization selects for the patch; else the patch names its object itself */
export function takePatch(reading: FileReading, patch: YamlPlace, target: unknown) {
  const selector = isRawObject(target) ? target : null
  const { kind = '' } = selector ?? {}
  // Any kind, or a pattern. Then the patch itself says what it is for.
  const isOpen = !/^\w+$/.test(String(kind))
  const object = Array.isArray(patch.value) ? patchedObject(patch) : null
  for (const name of selector ? selectedNames(selector) : ['']) {
    if (object) takeOperations(reading, object, isOpen ? null : { kind, name })
    else if (!selector) takeDocument(reading, patch)
    else {
      const own = isOpen ? mapOf(patch.value).kind : kind
      takeDocument(reading, { ...patch, value: selectedObject(patch.value, { kind: own, name }) })
    }
    if (reading.parts.length > mostParts) return
  }
}

/** Targets of the patches that a kustomization has as files, by path. */
export function patchTargets(
  kustomizations: readonly { file: string; text: string }[],
  budget: TextBudget,
): ReadonlyMap<string, unknown[]> {
  const found = kustomizations.flatMap(({ file, text }) => {
    if (text.length > longestKustomization) return []
    const kustomization = mapOf(parsedOrNull(text, budget))
    const patches = listsOfPatches.flatMap(list => itemsOf(kustomization[list]).map(mapOf))
    return patches.flatMap(({ path, target }) =>
      typeof path === 'string'
        ? [{ path: join(dirname(file), path), target: targetIn(kustomization, target) }]
        : [],
    )
  })
  const byPath = Map.groupBy(found, ({ path }) => path)
  const distinctTargets = (own: typeof found) =>
    [...new Map(own.map(({ target }) => [JSON.stringify(target), target])).values()].slice(
      0,
      mostParts,
    )
  return new Map([...byPath].map(([path, own]) => [path, distinctTargets(own)]))
}

const longestKustomization = 65_536

/** Null: it is broken. */
function parsedOrNull(text: string, budget: TextBudget) {
  try {
    return parseYaml(text, budget)
  } catch (error) {
    if (!(error instanceof ForeignTextError)) throw error
    return null
  }
}

const patchable = {
  EC2NodeClass: 'karpenter.k8s.aws/v1',
  NodePool: 'karpenter.sh/v1beta1',
  NodeConfig: 'node.eks.aws/v1alpha1',
}

/** A patch with a target applies to what the target selects, whatever name the patch has. */
function selectedObject(patch: unknown, { kind: selected = '', name }: RawObject): RawObject {
  const { kind = selected, apiVersion, metadata, ...others } = mapOf(patch)
  const known = Object.hasOwn(patchable, String(kind))
  const version = known ? patchable[kind as keyof typeof patchable] : ''
  return {
    ...others,
    kind,
    apiVersion: apiVersion ?? version,
    metadata: { ...mapOf(metadata), name },
  }
}

/** A target's name is a regular expression, anchored. One that `*` and `|` do not say is empty: unknown, like what labels select. */
function selectedNames({ name, labelSelector, annotationSelector }: RawObject) {
  if ((labelSelector ?? annotationSelector) !== undefined) return ['']
  const alternatives = String(name ?? '*')
    .replace(/^\((.*)\)$/, '$1')
    .split('|', 20)
  return alternatives.map(pattern => {
    const glob = pattern.replaceAll('.*', '*')
    return /^[\w.*-]+$/.test(glob) ? glob : ''
  })
}

/** @param object what the operations write; @param target of a kustomization. Null: unknown, so the paths decide */
function takeOperations(reading: FileReading, object: YamlPlace, target: RawObject | null) {
  const kind = target ? target.kind : 'EC2NodeClass'
  const { spec, metadata } = mapOf(object.value)
  const { kubelet, userData, blockDeviceMappings } = mapOf(spec)
  const isOfNodes =
    isRawObject(kubelet) || kubelet === null || (userData ?? blockDeviceMappings) !== undefined
  if (!Object.hasOwn(patchable, String(kind)) || (!target && !isOfNodes)) return
  const { name = '' } = target ?? mapOf(metadata)
  const value = selectedObject(object.value, { kind, name })
  takeDocument(reading, { ...object, value })
}

/** Empty: it has none, or an expression. */
const nameOf = ({ metadata }: RawObject) => knownName(mapOf(metadata).name)

/** Null: the class does not say, or of no family with known files. Source: karpenter.sh, NodeClasses, spec.amiFamily */
function familyOf({ amiFamily, amiSelectorTerms }: RawObject) {
  const aliases = itemsOf(amiSelectorTerms).map(
    term => String(mapOf(term).alias ?? '').split('@')[0],
  )
  const families = ['AL2', 'AL2023', 'Bottlerocket'] as const
  return (
    families.find(family => family === amiFamily) ??
    families.find(family => aliases.includes(family.toLowerCase())) ??
    null
  )
}

function takeNodeClass(reading: FileReading, place: YamlPlace) {
  const before = reading.parts.length
  const value = mapOf(place.value)
  const spec = mapOf(value.spec)
  const target = { nodeClass: nameOf(value) }
  // Karpenter appends its own part to the user data, so its own part acts last.
  if (typeof spec.userData === 'string')
    takeUserData(reading, place.textAt('spec', 'userData'), target, 'EC2NodeClass')
  const isOwnImage = spec.amiFamily === 'Custom'
  const kubelet = place.at('spec', 'kubelet')
  // Every whole class selects its subnets.
  const isWhole = Array.isArray(spec.subnetSelectorTerms)
  const mappings = place.at('spec', 'blockDeviceMappings')
  const hasStore = spec.instanceStorePolicy === 'RAID0'
  const volumes = hasStore
    ? []
    : volumesIn(mappings, { device: 'deviceName', size: ['ebs', 'volumeSize'] })
  const removesKubelet = kubelet.value === null && Object.hasOwn(spec, 'kubelet')
  const strays = straysOfNodeClass(place)
  const isSet = isRawObject(kubelet.value) || removesKubelet
  if (isSet || isWhole || volumes.length + strays.length > 0)
    reading.parts.push({
      kind: 'EC2NodeClass',
      file: reading.file,
      target,
      isWhole,
      ...(removesKubelet && { removesKubelet }),
      ...(!hasStore && { volumes }),
      mountsDisks: mountsDisks(textOfValue(spec.userData ?? '')),
      lineOf: withVolumes(linesIn(kubelet), volumes),
      config: mapOf(kubelet.value),
      flags: [],
      by: 'karpenter',
      ...(isOwnImage && { unused: unusedByCustom }),
      refusals: [...strays, ...refusedVolumes(volumes, 'EC2NodeClass')],
    })
  reading.problems.push(...unnamedVolumes(mappings))
  reading.problems.push(...unclearVolumes(volumes.filter(({ written }) => isExpression(written))))
  const amiFamily = familyOf(spec)
  for (const own of reading.parts.slice(before)) {
    own.isOwnImage = isOwnImage
    if (amiFamily !== null) own.amiFamily = amiFamily
  }
}

type Fields = readonly [path: readonly (string | number)[], known: readonly string[]]

const namesOfNodeClass = Object.values(nodeClassFields).flat()
const heads = ['apiVersion', 'kind']

/** Fields that the CRD has at another place, or under another name. @param places of the object, with those that it has there */
const strayFields = (object: YamlPlace, places: readonly Fields[]): FileProblem[] =>
  places.flatMap(([path, known]) => {
    const isOfKubelet = path.at(-1) === 'kubelet'
    // Any other name may be a field of a later release, which takes all of a kubelet, too.
    const isFieldMeant = (key: string) =>
      isOfKubelet ||
      isConfigurationField(key) ||
      /kubelet/i.test(key) ||
      nearestName(key, namesOfNodeClass) !== null
    return Object.keys(mapOf(object.at(...path).value))
      .filter(key => !known.includes(key) && isFieldMeant(key))
      .map(key => {
        const field = [...path, key].join('.').replace(/\.(\d+)/g, '[$1]')
        const isLater = isOfKubelet && isConfigurationField(key)
        const since = isLater
          ? ': EC2NodeClass does not have it up to Karpenter 1.14'
          : key === 'kubelet' && ': up to v1beta1 the NodePool has it, since v1 the EC2NodeClass'
        const text = `strict decoding error: unknown field "${field}"${since || ''}.`
        return fileProblem('refused', object.lineOf(...path, key), text, key)
      })
  })

function straysOfNodeClass(place: YamlPlace) {
  const { spec, mapping, ebs } = nodeClassFields
  const list = ['spec', 'blockDeviceMappings']
  const isOld = isBeta(mapOf(place.value))
  return strayFields(place, [
    [[], heads],
    [['spec'], isOld ? spec.filter(field => field !== 'kubelet') : spec],
    ...(isOld ? [] : [[['spec', 'kubelet'], Object.keys(nodeClassKubeletFields)] as const]),
    ...itemsOf(place.at(...list).value).flatMap((_, index): Fields[] => [
      [[...list, index], mapping],
      [[...list, index, 'ebs'], ebs],
    ]),
  ])
}

/** Only v1beta1 has kubelet settings in a NodePool. Source: karpenter.sh upgrade guide, v1 migration. */
function takeNodePool(reading: FileReading, place: YamlPlace) {
  const path = ['spec', 'template', 'spec']
  const kubelet = place.at(...path, 'kubelet')
  const value = mapOf(place.value)
  const isOld = isBeta(value)
  const refusals = strayFields(place, [
    [[], heads],
    [['spec'], []],
    [['spec', 'template'], []],
    [path, isOld ? ['kubelet'] : []],
  ])
  if (!isRawObject(kubelet.value) && refusals.length === 0) return
  reading.parts.push({
    kind: 'NodePool',
    file: reading.file,
    target: { nodePool: nameOf(value) },
    lineOf: linesIn(kubelet),
    config: isOld ? mapOf(kubelet.value) : {},
    flags: [],
    by: 'karpenter',
    refusals,
  })
}

const isBeta = ({ apiVersion }: RawObject) => String(apiVersion).endsWith('/v1beta1')

/**
 * Kubelet settings in eksctl's ClusterConfig.
 * Source: eksctl pkg/apis/eksctl.io/v1alpha5 validation.go, pkg/nodebootstrap al2023.go; managedNodeGroups have no kubeletExtraConfig
 */
function takeClusterConfig(reading: FileReading, place: YamlPlace) {
  const cluster = nameOf(mapOf(place.value))
  for (const list of ['nodeGroups', 'managedNodeGroups'])
    for (const group of placesIn(place.at(list))) takeGroup(reading, group, { list, cluster })
}

function takeGroup(
  reading: FileReading,
  place: YamlPlace,
  { list, cluster }: { list: string; cluster: string },
) {
  const { file, parts } = reading
  const group = mapOf(place.value)
  const target = { cluster, group: knownName(group.name) }
  const head = { kind: 'ClusterConfig' as const, file, target, flags: [] }
  const extra = place.at('kubeletExtraConfig')
  const volumes = volumesOfGroup(place)
  const refusals = [
    ...extraConfigMistakes(place, list),
    ...refusedVolumes(volumes, 'ClusterConfig'),
  ]
  if (isRawObject(extra.value) || refusals.length + volumes.length > 0) {
    const isTaken = list === 'nodeGroups' && isRawObject(extra.value)
    const config = isTaken ? mapOf(extra.value) : {}
    const lineOf = withVolumes(linesIn(extra), volumes)
    parts.push({ ...head, config, by: 'eksctl', lineOf, refusals, volumes })
    reading.problems.push(...unclearVolumes(volumes))
  }
  const { maxPodsPerNode, amiFamily } = group
  if (typeof maxPodsPerNode === 'number')
    parts.push({
      ...head,
      config: { maxPods: maxPodsPerNode },
      by: amiFamily === 'Bottlerocket' ? 'bottlerocket' : 'eksctl',
      lineOf: () => place.lineOf('maxPodsPerNode'),
      refusals: [],
    })
  for (const command of placesIn(place.at('preBootstrapCommands'))) {
    const { text, fileLine } = command.textAt()
    const script = { text: `#!/bin/bash\n${text}`, fileLine: (line: number) => fileLine(line - 1) }
    takeUserData(reading, script, target, 'ClusterConfig')
  }
  takeUserData(reading, place.textAt('overrideBootstrapCommand'), target, 'ClusterConfig')
  const settings = place.at('bottlerocket', 'settings', 'kubernetes')
  if (!isRawObject(settings.value)) return
  // YAML has numbers that JSON and TOML lack.
  const plain = JSON.parse(JSON.stringify(settings.value))
  const { config, lineOf } = bottlerocketPiece(plain, linesIn(settings))
  const mistakes = settingMistakes(settings.value, settings.lineOf)
  const isRefused = ({ kind }: FileProblem) => kind === 'refused'
  parts.push({ ...head, config, by: 'bottlerocket', lineOf, refusals: mistakes.filter(isRefused) })
  reading.problems.push(...mistakes.filter(mistake => !isRefused(mistake)))
}

/** Source: eksctl pkg/cfn/builder/block_device_mappings.go */
function volumesOfGroup(place: YamlPlace) {
  const { volumeSize, volumeName, preBootstrapCommands, overrideBootstrapCommand } = mapOf(
    place.value,
  )
  const hasCommands = (preBootstrapCommands ?? overrideBootstrapCommand) !== undefined
  const own = volumeSize
    ? [
        volumeOf(
          volumeSize,
          volumeName === undefined ? null : String(volumeName),
          place.lineOf('volumeSize'),
        ),
      ]
    : []
  const more = volumesIn(place.at('additionalVolumes'), {
    device: 'volumeName',
    size: ['volumeSize'],
  })
  // An additional volume is for whatever the commands make of it.
  return hasCommands ? own : [...own, ...more]
}

function extraConfigMistakes(place: YamlPlace, list: string) {
  const group = mapOf(place.value)
  const name = 'kubeletExtraConfig'
  const { [name]: extra, amiFamily } = group
  const refuse = (text: string, field: string, key = name) =>
    fileProblem(
      'refused',
      place.lineOf(key, field),
      `eksctl refuses the whole file: ${text}`,
      field,
    )
  const misspelt = Object.keys(group)
    .filter(key => key !== name && nearestName(key, [name]) !== null)
    .map(key => refuse(`json: unknown field "${key}", did you mean ${name}`, key, key))
  if (!isRawObject(extra)) {
    const isTaken = extra === undefined || extra === null || isExpression(textOfValue(extra))
    return isTaken ? misspelt : [...misspelt, refuse(`${name} is no map`, name)]
  }
  const critical = Object.keys(extra)
    .filter(field => refusedByEksctl.has(field))
    .map(field =>
      refuse(
        `cannot override "${field}" in kubelet config, as it's critical to eksctl functionality`,
        field,
      ),
    )
  const isUnsupported = /^(?:Bottlerocket$|Windows)/.test(String(amiFamily))
  const whole = [
    ...(list === 'managedNodeGroups' ? [`json: unknown field "${name}"`] : []),
    ...(isUnsupported ? [`${name} is not supported for ${amiFamily} nodegroups`] : []),
  ]
  return [...misspelt, ...whole.slice(0, 1).map(text => refuse(text, name)), ...critical]
}

/* JSON patches, as kustomize takes them. */

/** The parts of an object that the operations set; null: one of them removes it. Source: RFC 6902, RFC 6901 */
function patchedObject(list: YamlPlace): YamlPlace {
  const operations = placesIn(list).flatMap(at => {
    const { op, path, value } = mapOf(at.value)
    if (typeof path !== 'string' || !['add', 'replace', 'remove'].includes(String(op))) return []
    return [{ at, path: segments(path), value: op === 'remove' ? null : value }]
  })
  const object: RawObject = {}
  for (const { path, value } of operations) set(object, path, value)
  return placeIn(object, path => placeOf(list, operations, path))
}

const deepest = 20
const segments = (pointer: string) =>
  pointer
    .split('/')
    .slice(1, deepest)
    .map(segment => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

function set(target: RawObject, [name = '', ...deeper]: string[], value: unknown) {
  if (name === '__proto__') return
  if (deeper.length === 0) {
    target[name] = value
    return
  }
  const before = Object.hasOwn(target, name) ? target[name] : undefined
  const inner: RawObject = isRawObject(before) ? before : {}
  target[name] = inner
  set(inner, deeper, value)
}

type Path = (string | number)[]

const isPrefix = (path: readonly unknown[], of: readonly unknown[]) =>
  path.length <= of.length && path.every((segment, index) => segment === of[index])

/** The last operation that sets the path, or a part of it. */
function placeOf(list: YamlPlace, operations: { at: YamlPlace; path: string[] }[], path: Path) {
  const setter = operations.findLast(({ path: own }) => isPrefix(own, path))
  if (!setter) return operations.findLast(({ path: own }) => isPrefix(path, own))?.at ?? list
  const rest = path.slice(setter.path.length)
  const place = setter.at.at('value', ...rest)
  return rest.length > 0 ? place : { ...place, lineOf: () => setter.at.lineOf('path') }
}

const itemOf = (value: unknown, segment: string | number): unknown =>
  Array.isArray(value) ? value[Number(segment)] : mapOf(value)[segment]

const placeIn = (value: unknown, placeAt: (path: Path) => YamlPlace): YamlPlace => ({
  value,
  lineOf: (...path) => placeAt(path).lineOf(),
  tag: () => placeAt([]).tag(),
  textAt: (...path) => placeAt(path).textAt(),
  at: (...path) => placeIn(path.reduce(itemOf, value), deeper => placeAt([...path, ...deeper])),
})
