import { expect, it } from 'vitest'
import { isHarmless, RedactionBudget, redact } from '#base/redaction/redact.ts'
import { doubtfulShapes, furtherShapes, secretShapes } from '#test/secret-shapes.ts'

const shapes = [...secretShapes, ...furtherShapes, ...doubtfulShapes]
const spent = (text: string) =>
  new RedactionBudget(text.length / 8, { longest: 4_096 }).redact(text)

it('a text that costs nothing holds nothing that redaction removes from it in a sentence', () => {
  const secrets = ['Canary0001', 'a1b2c3d4e5f6g7h8', 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9v']
  const words = shapes.flatMap(([, text]) => secrets.flatMap(secret => text(secret).split(/\s+/)))
  const plain = [...new Set(words)].filter(word => !isHarmless(word) && spent(word) === word)
  expect(plain.length).toBeGreaterThan(100)
  expect(plain.filter(word => redact(`. ${word}`) !== `. ${word}`)).toEqual([])
})

it.each([
  'CONTAINER_RUNNING',
  'SANDBOX_NOTREADY',
  `sha256:${'0123456789abcdef'.repeat(4)}`,
  '/var/lib/Team_A/app_1',
  'team-a_web-7d9f8b6c5d-x2x4z_3b1a9f60-1c1e-4b8e-9d53-0f9c0a3e7f11',
  'registry.example.com:5000/team_a/shop_web:V1.2-SNAPSHOT_b',
])('%s costs an eighth at most', text => {
  expect(spent(text)).toBe(text)
})

it.each([
  'AKIAABCDEFGHIJKLMNOP',
  'ghp_abcdefghijklmnopqrst',
  'registry.example.com/app:ghp_abcdefghijklmnopqrst',
  'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
])('%s is removed', text => {
  expect(redact(text)).toContain('(removed)')
})
