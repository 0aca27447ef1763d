import { expect, it } from 'vitest'
import { redact } from '#base/redaction/redact.ts'

it.each([
  [
    'a cell in which a list of arguments begins',
    'user,password\nbob,hunter22 could not: [login, --db-password, hunter33, host]',
    'user,password\nbob,(removed), --db-password,(removed)',
  ],
  [
    'a column behind a row of another table',
    '| password | hunter22 | could not: | user | password |\n| bob | hunter33 |',
    '| password | (removed) | could not: | user | password |\n| bob |(removed)|',
  ],
])('removes %s', (_, text, clean) => {
  expect(redact(text)).toBe(clean)
})
