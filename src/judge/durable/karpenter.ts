/**
 * Karpenter's EC2NodeClass. Settings without a typed field go into user data, in the form that the image reads.
 * Source: karpenter-provider-aws pkg/apis/v1, pkg/providers/amifamily/bootstrap
 */

import { nodeClassKubeletFields } from '#facts/eks/karpenter.ts'
import { bottlerocketTerms, bottlerocketToml } from './bottlerocket.ts'
import {
  comments,
  type DurableRequest,
  type DurableTarget,
  indent,
  isEmpty,
  type Origin,
  quotedName,
  settableFields,
  yaml,
} from './durable.ts'
import { nodeConfig } from './nodeadm.ts'

export const karpenter: DurableTarget = {
  target: 'karpenter',
  isFor: ({ owner }) => owner === 'karpenter',

  snippet(request) {
    const { origin, group, config } = request
    const isTyped = ([field]: [string, unknown]) => hasNodeClassField(origin, field)
    const typed = settableFields(
      { ...request, config: Object.fromEntries(Object.entries(config).filter(isTyped)) },
      { keys: field => nodeClassKubeletFields[field]?.keys },
    )
    const rest = userDataFix({
      ...request,
      notes: [],
      config: Object.fromEntries(Object.entries(config).filter(entry => !isTyped(entry))),
    })
    const notes = [...typed.leftOut, ...rest.notes]
    if (isEmpty(typed.config) && rest.userData === '')
      return comments(['An EC2NodeClass can hold nothing of this fix.', ...notes])
    const pool = quotedName(group.name, 'of these nodes')
    return [
      comments([
        `The EC2NodeClass of NodePool ${pool}, ${origin.amiFamily} nodes. A change of the class replaces all its nodes, within the disruption budgets.`,
        ...(origin.amiFamily === 'other'
          ? ['With amiFamily Custom Karpenter passes none of it on: the user data has to.']
          : []),
        ...(rest.userData === ''
          ? []
          : [
              'Join userData with what is there. Karpenter later than v1.14 takes its fields in spec.kubelet, too.',
            ]),
        ...notes,
      ]),
      'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n',
      isEmpty(typed.config) ? '' : `  kubelet:\n${indent(yaml(typed.config), 4)}`,
      rest.userData === '' ? '' : `  userData: |\n${indent(rest.userData, 4)}`,
    ].join('')
  },
}

/** Whether spec.kubelet of an EC2NodeClass has the field, and the image follows it. */
function hasNodeClassField({ amiFamily }: Origin, field: string) {
  const facts = Object.hasOwn(nodeClassKubeletFields, field)
    ? nodeClassKubeletFields[field]
    : undefined
  return facts !== undefined && !(amiFamily === 'Bottlerocket' && facts.isIgnoredOnBottlerocket)
}

function userDataFix(request: DurableRequest) {
  if (request.origin.amiFamily === 'Bottlerocket') {
    const { settings, notes } = bottlerocketTerms(request)
    return { userData: bottlerocketToml(settings), notes }
  }
  const isNodeadm = request.origin.amiFamily === 'AL2023'
  const { config, leftOut } = settableFields(request, isNodeadm ? {} : { refusal: () => later })
  return { userData: isEmpty(config) ? '' : nodeConfig(config), notes: leftOut }
}

const later = 'to be set in spec.kubelet by Karpenter later than v1.14'
