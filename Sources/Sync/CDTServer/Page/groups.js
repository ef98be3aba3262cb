// Groups of documents: one sentence says which, and a chart that fits, over time or as bars, shows them with a table of their numbers.
import {bar, button, count, el, fill, labeled, saveFile, sends, tell, text, visible} from './dom.js'
import {get, path, postForDocuments} from './api.js'
import {filterOf} from './conditions.js'
import {beginning, isNumber, line, Numeral, numberOf} from './json.js'
import {isKnown, namesOf, nearest} from './names.js'
import {shownValue, valueAt} from './grid.js'
import {importFile, takeDrops} from './import.js'
import {menuOf} from './menus.js'
import {showPlan} from './plan.js'
import {plot} from './plot.js'
import {link, remember} from './router.js'
import {between, combined, isTime, isTimeUnit, maximumFetched, partsOf, unitFor, units} from './units.js'

const maximumGroups = 200
/** More combined groups are not in the table, or in a chart over time. */
const maximumRows = 1_000
const aggregates = ['count', 'sum', 'average', 'least', 'greatest']
const whole = units[0]

export async function showGroups({main, store, parameters, signal}) {
  takeDrops(signal, file => importFile(file, {store, signal}))
  await get(path(store), signal)
  const names = el('datalist', {id: 'group-fields'})
  const given = name => parameters.get(name) ?? ''
  const input = (name, placeholder, attributes) => el('input', {list: names.id, name, value: given(name), placeholder, spellcheck: 'false', autocapitalize: 'off', ...attributes})
  const select = (name, options, attributes) => el('select', {name, ...attributes}, options.map(([value, label = value]) =>
    el('option', {value, selected: value === given(name)}, label)))
  const by = input('by', 'field', {'aria-label': 'Group by', oninput: () => {
    // Another field has a unit of its own.
    isChosen = false
    unit.value = whole
    showParts()
  }})
  let isChosen = units.includes(given('unit'))
  const unit = select('unit', units.map(name => [name]), {'aria-label': 'Unit', onchange: () => { isChosen = true }})
  const show = select('show', aggregates.map(name => [name]), {'aria-label': 'Show the', onchange: () => showParts()})
  const field = input('field', 'field', {'aria-label': 'of the field'})
  const unwind = select('unwind', [['', 'documents'], ...given('unwind') ? [[given('unwind'), `elements of ${given('unwind')}`]] : []], {'aria-label': 'for each of'})
  const selector = el('input', {
    name: 'selector', class: 'value', value: given('selector'), placeholder: 'everything, or age > 20', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
    'aria-label': 'Selector', 'aria-describedby': 'groups-problem', oninput: () => clear(),
  })
  const problem = el('p', {class: 'problem', role: 'alert', id: 'groups-problem'})
  const hint = el('p', {class: 'notice', role: 'alert', hidden: true})
  const [chart, plan, note] = [el('div', {id: 'chart'}), el('div'), el('p', {role: 'status', class: 'soft'})]
  const submit = el('button', {class: 'primary'}, 'Show')
  const ofField = labeled('of', field)
  let [known, arrays, shown] = [[], [], null]
  const showParts = () => {
    ofField.hidden = show.value === 'count'
    unit.hidden = by.value.includes(',')
  }
  const clear = () => {
    fill(problem)
    selector.removeAttribute('aria-invalid')
  }
  const fail = error => {
    selector.setAttribute('aria-invalid', 'true')
    fill(problem, visible(error.message, 1_000))
  }
  const showHint = () => {
    const fields = [by, ofField.hidden ? null : field].filter(Boolean)
    const unknown = fields.filter(input => input.value && !input.value.includes(',') && !isKnown(input.value.trim(), known))
    // A path through an array stands for all of its values at once.
    const paths = fields.flatMap(input => input.value.split(',')).map(name => name.trim())
    const array = arrays.find(array => array !== unwind.value && paths.some(name => name.startsWith(`${array}.`)))
    fill(hint, array && [`"${visible(array, 100)}" is an array, and each document is in one group. `, button('Group its elements', () => {
      unwind.value = array
      return run()
    }), ' '], unknown.map(input => {
      const meant = nearest(input.value.trim(), known)
      return [`None of the first 1,000 documents has the field "${visible(input.value, 100)}"${meant ? `; did you mean "${visible(meant, 100)}"?` : '.'} `,
        meant && button(`Use ${visible(meant, 60)}`, () => {
          input.value = meant
          return run()
        })]
    }))
    hint.hidden = !unknown.length && !array
  }
  /** The request that the fields describe. */
  const asked = () => {
    const fields = by.value.split(',').map(name => name.trim()).filter(Boolean)
    return {by: fields, unit: fields.length === 1 ? unit.value : whole, show: show.value, field: field.value.trim(), unwind: unwind.value, selector: filterOf(selector.value)}
  }
  const keep = () => {
    const parameters = {
      by: by.value, unit: unit.value === whole && !isChosen ? '' : unit.value, show: show.value, field: ofField.hidden ? '' : field.value,
      unwind: unwind.value, selector: selector.value,
    }
    remember(link(store, 'groups', Object.fromEntries(Object.entries(parameters).filter(([, value]) => value && value !== '{}'))))
  }
  const ask = async action => {
    clear()
    showHint()
    let wanted
    try {
      wanted = asked()
      if (wanted.show !== 'count' && !wanted.field) throw new Error(`The ${wanted.show} needs a field; name it after "of".`)
    } catch (error) {
      return fail(error)
    }
    keep()
    fill(plan)
    try {
      await action(wanted)
    } catch (error) {
      fill(chart)
      fill(note)
      if (error.status !== 400) throw error
      fail(error)
    }
  }
  const run = () => ask(async wanted => {
    fill(note, 'Grouping…')
    const found = arranged(await groupsOf(store, wanted, !isChosen && wanted.by.length === 1, signal))
    unit.value = found.unit
    keep()
    shown = found
    menu.hidden = !found.entries.length
    fill(note, noteOf(found))
    fill(chart, chartOf(found))
  })
  const explain = () => ask(async wanted => {
    await showPlan(plan, store, request(wanted, wanted.unit === whole ? maximumGroups : maximumFetched), signal)
    plan.querySelector('h2').focus()
  })
  const menu = menuOf('Download', {}, button('Download as CSV', () => save(store, shown, 'csv')), button('Download as JSON', () => save(store, shown, 'json')))
  menu.hidden = true
  fill(main, el('h1', {}, 'Groups'), el('form', {
    class: 'sentence', onsubmit: sends(submit, run),
  }, labeled('Group by', [by, unit]), labeled('and show the', show), ofField, labeled('for', unwind),
  labeled('that match', selector), el('span', {class: 'row'}, submit, button('Explain', explain), menu), names),
  problem, hint, plan, note, chart)
  showParts()
  namesOf(store, signal).then(found => {
    ({fields: known, arrays} = found)
    fill(names, known.map(value => el('option', {value})))
    unwind.append(...arrays.filter(name => name !== given('unwind')).map(name => el('option', {value: name}, `elements of ${visible(name, 60)}`)))
    showHint()
    if (!shown && !parameters.has('by')) fill(chart, examplesOf(store, found.summary))
  }, tell)
  if (parameters.has('by')) await run()
}

function both(selector, conditions) { return selector.size ? new Map([['$and', [selector, conditions]]]) : conditions }

/** The names of what is computed, which are those of no field. */
function resultNames(fields) {
  const own = name => fields.some(field => field.split('.')[0] === name) ? own(`${name}_`) : name
  return ['value', 'number', 'sum'].map(own)
}

/** Groups of whole values: the greatest ones, or in the order of their values if they are to be combined. */
function request({by, unit, show, field, unwind, selector}, limit) {
  const names = resultNames(by)
  const parts = partsOf(show, field, names)
  const group = new Map([['by', by], ['aggregates', new Map(unit === whole ? parts.slice(0, 1) : parts)]])
  if (unwind) group.set('unwind', unwind)
  // Without those that have no number, the number of documents is that of the values of an average.
  const counted = show === 'average' && unit !== whole && !unwind ? both(selector, new Map([[field, new Map([['$type', 'number']])]])) : selector
  const wanted = new Map([['selector', counted], ['group', group], ['limit', limit]])
  return unit === whole ? wanted.set('sort', [new Map([[names[0], 'desc']])]) : wanted
}

/**
 * The groups, each with the values of its fields, or the beginning of the one field.
 *
 * @param isAutomatic Whether times have the unit that makes few groups.
 */
async function groupsOf(store, wanted, isAutomatic, signal) {
  const {by, show} = wanted
  const [names, rowsOf] = [resultNames(by), async (wanted, limit) => (await postForDocuments(path(store, '_find'), line(request(wanted, limit)), signal)).get('groups')]
  let unit = isAutomatic ? whole : wanted.unit
  let rows = unit === whole && await rowsOf({...wanted, unit}, maximumGroups + 1)
  const valuesOf = rows => rows.map(row => valueAt(row, by[0])).filter(value => value != null)
  if (isAutomatic && unitFor(valuesOf(rows)) !== whole) [rows, unit] = [null, units[1]]
  if (rows) {
    const entries = rows.slice(0, maximumGroups).map(row => entry(store, wanted, by.map(name => valueAt(row, name)), row.get(names[0]) ?? null))
    return {wanted, unit, entries, note: rows.length > maximumGroups && `the ${maximumGroups} with the greatest values are shown`}
  }
  const all = await rowsOf({...wanted, unit}, maximumFetched + 1)
  if (isAutomatic) unit = unitFor(valuesOf(all.slice(0, maximumFetched)))
  const isCut = all.length > maximumFetched
  if (isCut) all.length = maximumFetched
  const last = isCut && valueAt(all.at(-1), by[0])
  const entries = combined(all, by[0], unit, show, names).map(({key, prefix, value}) => entry(store, wanted, [key], value, prefix))
  return {wanted, unit, entries, note: isCut
    && `only the first ${maximumFetched.toLocaleString('en')} values are in them, up to ${visible(typeof last === 'string' ? last : line(last), 40)}; give conditions for the others`}
}

/** A group: its values, its result, and the address of the query for its documents; undefined if a selector can't say which they are. */
function entry(store, {by, unwind, selector}, values, value, prefix) {
  const [conditions, element] = [new Map(), new Map()]
  for (const [at, name] of by.entries()) {
    const own = values[at]
    // The values that a path reaches in an array are not its value.
    if (Array.isArray(own) && name.includes('.')) return {values, value}
    const condition = prefix !== undefined ? new Map([['$beginsWith', prefix]])
      : own === undefined ? new Map([['$exists', false]]) : own instanceof Map ? new Map([['$eq', own]]) : own
    if (unwind && name.startsWith(`${unwind}.`)) element.set(name.slice(unwind.length + 1), condition)
    else conditions.set(name, condition)
  }
  if (element.size) conditions.set(unwind, new Map([['$elemMatch', element]]))
  else if (unwind && !conditions.has(unwind)) conditions.set(unwind, new Map([['$exists', true], ['$ne', []]]))
  return {values, value, href: link(store, 'documents', {selector: line(both(selector, conditions))})}
}

/** The name of the numbers, for the head of their column and the file. */
function title({show, field, unwind}) { return show === 'count' ? unwind ? 'elements' : 'documents' : `${show} of ${field}` }

function noteOf({entries, note}) {
  return entries.length ? `${count(entries.length, 'group')}${note ? `; ${note}` : ''}.` : 'No document matches.'
}

function label(value) { return value === undefined ? 'absent' : shownValue(value).text }

function chartOf(found) {
  const {wanted, unit, entries, points} = found
  if (!entries.length) return null
  const what = title(wanted)
  const name = `${what} by ${unit === whole ? '' : `${unit} of `}${wanted.by.join(', ')}`
  const longest = Math.max(...entries.map(({value}) => Math.abs(size(value))).filter(Number.isFinite), 0)
  return [
    points && plot(points, {name, format: value => shown(value), isLine: !['count', 'sum'].includes(wanted.show)}),
    el('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Groups'}, el('table', {class: points ? 'numbers' : 'chart', 'aria-label': visible(name, 200)},
      el('thead', {}, el('tr', {}, wanted.by.map(name => el('th', {scope: 'col'}, text(name, 60))), el('th', {scope: 'col', class: 'number'}, text(what, 60)), !points && el('td'))),
      el('tbody', {}, entries.slice(0, maximumRows).map(({values, value, href}) => el('tr', {},
        values.map((own, at) => {
          const content = own === undefined ? el('em', {}, 'absent') : text(label(own), 100)
          return el('th', {scope: 'row', title: own === undefined ? null : visible(typeof own === 'string' ? own : line(own), 1_000)}, at || !href ? content : el('a', {href}, content))
        }),
        el('td', {class: 'number'}, text(shown(value), 60)),
        !points && el('td', {class: 'bars'}, Number.isFinite(size(value)) ? bar(longest ? Math.abs(size(value)) / longest : 0) : '')))))),
    entries.length > maximumRows && el('p', {class: 'soft'}, `The first ${maximumRows.toLocaleString('en')} are in the table; a download has all.`),
  ]
}

/** Groups over time or over numbers in their order, with `points` and the gaps between times; as they are if most are something else. */
function arranged(found) {
  const {wanted, unit, entries, note} = found
  if (wanted.by.length !== 1 || note && unit === whole) return found
  const isOverNumber = ({values: [value]}) => Number.isFinite(size(value))
  const isOver = entries.some(isOverNumber) ? isOverNumber : ({values: [value]}) => isTimeUnit(unit) ? /^\d{4}(-|$)/.test(value) : unit === whole && isTime(value)
  const own = entries.filter(isOver)
  if (own.length < 3 || own.length > maximumRows || own.length < entries.length - 2 || !own.every(({value}) => value === null || Number.isFinite(size(value)))) return found
  const key = ({values: [value]}) => typeof value === 'string' ? value : size(value)
  const inOrder = (a, b) => key(a) < key(b) ? -1 : 1
  own.sort(inOrder)
  // A unit without documents has its place: nothing is counted in it, and it has no average.
  const gaps = new Set(isTimeUnit(unit) ? between(key(own[0]), key(own.at(-1)), unit) : [])
  for (const entry of own) gaps.delete(key(entry))
  const empty = [...gaps].map(gap => ({values: [gap], value: ['count', 'sum'].includes(wanted.show) ? 0 : null}))
  const points = [...own, ...empty].sort(inOrder).map(({values: [own], value, href}) =>
    ({label: label(own), from: label(own), value: value === null ? null : size(value), href, title: `${label(own)}: ${shown(value)}`}))
  return {...found, points, entries: [...own, ...entries.filter(entry => !isOver(entry))]}
}

function size(value) { return isNumber(value) ? numberOf(value) : NaN }

function shown(value) {
  if (typeof value === 'number') return value.toLocaleString('en', {maximumFractionDigits: Math.abs(value) >= 10 ? 2 : Math.abs(value) >= 1 ? 4 : 6})
  if (value instanceof Numeral && /^-?\d+$/.test(value.text)) return BigInt(value.text).toLocaleString('en')
  return typeof value === 'string' ? value : beginning(value, 100)
}

/** Saves the groups that are shown. */
function save(store, {wanted, entries}, format) {
  const names = [...wanted.by, title(wanted)]
  const rows = entries.map(({values, value}) => [...values, value])
  const cell = value => {
    const text = value == null ? '' : typeof value === 'string' ? value : line(value)
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const content = format === 'csv' ? [names, ...rows].map(row => row.map(cell).join(',') + '\r\n').join('')
    : `[\n${rows.map(row => line(new Map(row.map((value, at) => [names[at], value]).filter(([, value]) => value !== undefined)))).join(',\n')}\n]\n`
  saveFile(`${store} groups.${format}`, new Blob([content], {type: format === 'csv' ? 'text/csv' : 'application/json'}))
}

/** Groups to begin with, by the fields of the store. */
function examplesOf(store, fields) {
  const usable = fields.filter(({path}) => !path.includes(',') && !path.split('.').includes(''))
  const plainFields = usable.filter(({path}) => !path.includes('[]'))
  const categories = plainFields.filter(({types, distinct, documents}) => (types.string || types.boolean) && distinct > 1 && distinct <= 50 && distinct < documents)
  const time = plainFields.find(({types, examples, distinct}) => types.string && distinct > 2 && examples.every(isTime))
  const number = plainFields.find(({types, distinct}) => types.number && distinct > 10)
  const array = usable.find(({path, types, distinct}) => /^[^[]+\[\]$/.test(path) && types.string && distinct > 1)?.path.slice(0, -2)
  const [first, second = first] = categories.map(({path}) => path)
  const examples = [
    first && [`count by ${first}`, {by: first}],
    number && second && [`sum of ${number.path} by ${second}`, {by: second, show: 'sum', field: number.path}],
    time && [`count over time, by ${time.path}`, {by: time.path}],
    number && time && [`average of ${number.path} over time`, {by: time.path, show: 'average', field: number.path}],
    array && [`count by the elements of ${array}`, {by: array, unwind: array}],
  ].filter(Boolean)
  if (!examples.length) return el('p', {class: 'soft'}, fields.length ? 'Name a field; its values make the groups.' : 'No document has a field.')
  return [el('p', {class: 'soft'}, 'Name a field whose values make the groups, or begin with one of these:'),
    el('p', {class: 'row'}, examples.map(([label, parameters]) => el('a', {class: 'button', href: link(store, 'groups', parameters)}, text(label, 80))))]
}
