import * as z from 'zod'

/** Parses until the first wrong item: zod would keep an issue for each, and a million issues take 800 MB. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(z.unknown()).transform((items, context) => {
    const parsed: z.output<Item>[] = []
    for (const [index, each] of items.entries()) {
      const found = item.safeParse(each)
      if (!found.success) {
        const [{ message, path } = { message: '', path: [] }] = found.error.issues
        context.addIssue({ code: 'custom', message, path: [index, ...path] })
        return z.NEVER
      }
      parsed.push(found.data)
    }
    return parsed
  })
