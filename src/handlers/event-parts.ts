/** Parts of events. All mistakes of an event are reported at once. */
import * as z from 'zod'
import { firstReasons } from '#base/text.ts'

/** @param wanted describes the form, for people */
export const textMatching = (form: RegExp, wanted: string) =>
  z.string().check(z.regex(form, wanted))

export const names = <Name extends z.core.$ZodType>(name: Name) =>
  z._default(z.array(name).check(z.maxLength(1000)), [])

// A Kubernetes node name is a DNS subdomain. An EKS cluster name has letters, digits, - and _. * stands for any characters.
const nodeName = textMatching(
  /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
  'a node name, as kubectl get nodes shows it',
)
const clusterName = textMatching(
  /^[0-9A-Za-z*][A-Za-z0-9_*-]{0,99}$/,
  'an EKS cluster name; * stands for any characters',
)
const nodegroupName = textMatching(
  /^[0-9A-Za-z*][A-Za-z0-9_.*-]{0,252}$/,
  'a nodegroup or nodepool name; * stands for any characters',
)

export const selected = {
  clusters: names(clusterName),
  nodegroups: names(nodegroupName),
  nodes: names(nodeName),
}

const mostMistakes = 20

/** Returns all mistakes as one text: `nodes.0: a node name…; …` */
export const mistakesIn = (issues: readonly z.core.$ZodIssue[]) =>
  firstReasons(
    issues.map(
      ({ path, message }) => `${path.length === 0 ? 'the event' : path.join('.')}: ${message}`,
    ),
    mostMistakes,
  )
