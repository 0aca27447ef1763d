/** What the tests of these rules share: node. */

import { outcomeOf } from '#judge/outcome.ts'
import type { NodeRule } from '#judge/rule.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'

export const judge = (rule: NodeRule, example: NodeExample) =>
  outcomeOf(rule, exampleSubject(example), defaultPolicy)
