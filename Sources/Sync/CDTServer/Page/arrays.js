// Arrays of several versions of a document in one, as `cdtquery resolve --merge fields` merges them with --as-set and --by-key.
import {areEqual, isSame, line} from './json.js'

/** Members that are likely to name an element, the best ones first. */
const keys = ['id', '_id', 'key', 'uuid', 'name', 'code', 'sku', 'slug', 'email']

/**
 * The merges of a field that several versions have changed: each with a label, the value, and the number of places that have the value of the
 * first version because several have changed them to different ones.
 *
 * @param values The values of the versions; undefined where a version lacks the field.
 * @param base The value in the version that they come from; undefined if it lacks the field.
 */
export function arrayMerges(values, base) {
  const changed = values.filter(value => !isSame(value, base))
  if (changed.length < 2 || !changed.every(Array.isArray) || !changed.some(value => !areEqual(value, changed[0]))) return []
  const [arrays, before] = [values.map(arrayOf), arrayOf(base)]
  const key = keys.find(key => [...arrays, before].every(array => elementsOf(array, key)) && arrays.some(array => array.length))
  const merged = key && byKey(arrays, before, key)
  return [{label: 'all, as a set', value: asSet(arrays, before), contested: 0}, merged && {label: `all, by ${key}`, ...merged}].filter(Boolean)
}

function arrayOf(value) { return Array.isArray(value) ? value : [] }

/** A text that is the same for equal values, whatever the order of members. */
function textOf(value) {
  if (value instanceof Map) return `{${[...value].map(([name, inner]) => `${JSON.stringify(name)}:${textOf(inner)}`).sort().join()}}`
  return Array.isArray(value) ? `[${value.map(textOf).join()}]` : line(value)
}

/** The elements of all in their order, but for those that one of the arrays has removed. */
function asSet(arrays, base) {
  const [sets, before, seen] = [arrays.map(array => new Set(array.map(textOf))), new Set(base.map(textOf)), new Set()]
  return arrays.flat().filter(element => {
    const text = textOf(element)
    if (seen.has(text)) return false
    seen.add(text)
    return !before.has(text) || sets.every(set => set.has(text))
  })
}

/** The elements by the texts of their keys; null if they don't have one each. */
function elementsOf(array, key) {
  const found = new Map(array.map(element => [element instanceof Map && element.has(key) ? textOf(element.get(key)) : null, element]))
  return found.size < array.length || found.has(null) ? null : found
}

/** Elements with the same key are merged as documents are; null if several arrays have changed the order. */
function byKey(arrays, base, key) {
  const [all, before] = [arrays.map(array => elementsOf(array, key)), elementsOf(base, key)]
  const order = orderOf(all.map(elements => [...elements.keys()]), [...before.keys()])
  if (!order) return null
  const count = {contested: 0}
  const value = order.map(name => merged(all.map(elements => elements.get(name)), before.get(name), count)).filter(element => element !== undefined)
  return {value, ...count}
}

/** A value that one version has changed, or that of the first that did; objects are merged by their members. */
function merged(values, base, count) {
  const changed = values.filter(value => !isSame(value, base))
  if (!changed.length) return values[0]
  if (changed.length > 1 && changed.every(value => value instanceof Map)) {
    const member = (value, name) => value instanceof Map ? value.get(name) : undefined
    const names = new Set(changed.flatMap(value => [...value.keys()]))
    return new Map([...names].map(name => [name, merged(values.map(value => member(value, name)), member(base, name), count)])
      .filter(([, value]) => value !== undefined))
  }
  if (changed.some(value => !isSame(value, changed[0]))) count.contested++
  return changed[0]
}

/** The keys in the order of the version that has changed it, with each added key behind the one that it follows; null if several have changed it. */
function orderOf(orders, base) {
  const sets = orders.map(keys => new Set(keys))
  const kept = new Set(base.filter(key => sets.every(keys => keys.has(key))))
  const inAll = keys => keys.filter(key => kept.has(key))
  const isOrder = (keys, others) => keys.every((key, at) => key === others[at])
  const changed = orders.map(inAll).filter(keys => !isOrder(keys, inAll(base)))
  if (changed.some(keys => !isOrder(keys, changed[0]))) return null
  const [first, behind, seen] = [[], new Map(), new Set(kept)]
  for (const keys of orders) {
    let [last, leading] = [null, []]
    for (const key of keys) {
      if (seen.has(key)) {
        const place = last === null ? first.indexOf(key) : -1
        if (place >= 0) first.splice(place, 0, ...leading.splice(0))
        last = key
      } else if (last !== null) behind.set(last, [...behind.get(last) ?? [], key])
      else leading.push(key)
      seen.add(key)
    }
    first.push(...leading)
  }
  const [order, rest] = [[], [...first, ...changed[0] ?? inAll(base)].reverse()]
  while (rest.length) {
    const key = rest.pop()
    order.push(key)
    rest.push(...[...behind.get(key) ?? []].reverse())
  }
  return order
}
