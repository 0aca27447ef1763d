/** What the tests of these rules share: node. */

import type { NodeRule } from '#judge/rule.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'

export const judge = (rule: NodeRule, example: NodeExample) =>
  outcomeOf(rule, exampleSubject(example), defaultPolicy)
