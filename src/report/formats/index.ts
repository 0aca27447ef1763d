import type { Format } from '#report/format.ts'
import { html } from './html.ts'
import { json } from './json.ts'

export const formats: Format[] = [html, json]
