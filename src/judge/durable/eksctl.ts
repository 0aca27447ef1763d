/**
 * eksctl's ClusterConfig. eksctl makes the launch template itself.
 * Source: eksctl schema; pkg/nodebootstrap al2023.go, managed_al2.go, managed_bottlerocket.go; eksctl user guide, Node bootstrapping
 */

import { refusedByEksctl } from '#facts/eks/eksctl.ts'
import { bottlerocketTerms } from './bottlerocket.ts'
import {
  comments,
  type DurableRequest,
  type DurableTarget,
  indent,
  isEmpty,
  quotedName,
  settableFields,
  yaml,
} from './durable.ts'
import { al2Script } from './launch-template.ts'
import { nodeConfig } from './nodeadm.ts'

export const eksctl: DurableTarget = {
  target: 'eksctl',
  isFor: ({ owner, isEksctl, amiFamily }) =>
    amiFamily !== 'Windows' &&
    (owner === 'eksctl' || (isEksctl && owner === 'managed-nodegroup' && amiFamily !== 'other')),

  snippet(request) {
    const { text, notes } = settingsOf(request)
    if (text === '') return comments(['eksctl takes no part of this fix.', ...notes])
    const list = request.origin.owner === 'eksctl' ? 'nodeGroups' : 'managedNodeGroups'
    return `${comments([...inClusterConfig, ...notes])}${list}:
  - name: ${quotedName(request.group.name, 'my-nodegroup')}
${indent(text, 4)}`
  },
}

const inClusterConfig = [
  'Of the ClusterConfig. eksctl does not change a nodegroup that is there: give it a new name, create it, then delete the old one.',
]

/** An empty text: nothing can be set. */
function settingsOf(request: DurableRequest) {
  const { owner, amiFamily } = request.origin
  if (amiFamily === 'Bottlerocket') {
    const { settings, notes } = bottlerocketTerms(request)
    return {
      text: isEmpty(settings) ? '' : yaml({ bottlerocket: { settings: { kubernetes: settings } } }),
      notes,
    }
  }
  if (owner === 'eksctl') {
    const { config, leftOut } = settableFields(request, {
      refusal: field => (refusedByEksctl.has(field) ? 'refused by eksctl' : null),
    })
    return { text: isEmpty(config) ? '' : yaml({ kubeletExtraConfig: config }), notes: leftOut }
  }
  if (amiFamily === 'AL2') {
    const { script, leftOut } = al2Script(request, [])
    return script === ''
      ? { text: '', notes: leftOut }
      : { text: `preBootstrapCommands:\n  - |\n${indent(script, 4)}`, notes: [] }
  }
  const { config, leftOut } = settableFields(request)
  return {
    text: isEmpty(config) ? '' : `overrideBootstrapCommand: |\n${indent(nodeConfig(config), 2)}`,
    notes: leftOut,
  }
}
