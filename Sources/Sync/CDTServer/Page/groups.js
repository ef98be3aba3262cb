// Groups of documents as a bar chart, which is a table with bars.
import {bar, button, during, el, fill, labeled, tell, text, visible} from './dom.js'
import {get, path, postForDocuments} from './api.js'
import {beginning, line, parse} from './json.js'
import {editor} from './editor.js'
import {isKnown, namesOf, nearest} from './names.js'
import {shownValue, valueAt} from './grid.js'
import {showPlan} from './plan.js'
import {link, remember} from './router.js'

const maximumGroups = 200
const aggregates = {count: '$count', sum: '$sum', average: '$avg', least: '$min', greatest: '$max'}

export async function showGroups({main, store, parameters, signal}) {
  await get(path(store), signal)
  const names = el('datalist', {id: 'group-fields'})
  const input = (name, value, placeholder) => el('input', {list: names.id, name, value, placeholder, spellcheck: 'false'})
  const by = input('by', parameters.get('by') ?? '', 'city')
  const field = input('field', parameters.get('field') ?? '', 'amount')
  const unwind = input('unwind', parameters.get('unwind') ?? '', 'tags')
  const wanted = parameters.get('show') ?? 'count'
  const show = el('select', {name: 'show'}, Object.keys(aggregates).map(name => el('option', {selected: name === wanted}, name)))
  const selector = editor({label: 'Selector', value: parameters.get('selector') ?? '{}', rows: 1})
  const chart = el('div', {id: 'chart', 'aria-live': 'polite'})
  const plan = el('div')
  const submit = el('button', {}, 'Group')
  const hint = el('p', {class: 'notice', role: 'alert', hidden: true})
  let [known, arrays] = [[], []]
  const showHint = () => {
    const unknown = [by, field, unwind].filter(input => input.value && !input.value.includes(',') && !isKnown(input.value.trim(), known))
    // A path through an array stands for all of its values at once.
    const paths = [...by.value.split(','), show.value === 'count' ? '' : field.value].map(name => name.trim())
    const array = arrays.find(array => array !== unwind.value.trim() && paths.some(name => name.startsWith(`${array}.`)))
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
  const ask = async action => {
    selector.clear()
    showHint()
    let body
    try {
      body = request(parse(selector.value), by.value, show.value, field.value, unwind.value)
    } catch (error) {
      return selector.fail(error)
    }
    const shown = {by: by.value, show: show.value, field: field.value, unwind: unwind.value, selector: selector.value}
    remember(link(store, 'groups', Object.fromEntries(Object.entries(shown).filter(([, value]) => value && value !== '{}'))))
    fill(plan)
    try {
      await action(body)
    } catch (error) {
      fill(chart)
      if (error.status !== 400) throw error
      selector.fail(error)
    }
  }
  const run = () => ask(async body => {
    const reply = await postForDocuments(path(store, '_find'), line(body), signal)
    fill(chart, chartOf(store, body, reply.get('groups'), show.value, field.value))
  })
  const explain = () => ask(async body => {
    await showPlan(plan, store, body, signal)
    plan.querySelector('h2').focus()
  })
  fill(main, el('h1', {}, 'Groups'), el('form', {
    onsubmit: event => {
      event.preventDefault()
      during(submit, run)
    },
  }, el('div', {class: 'row'}, labeled('Group by', by), labeled('Show the', show), labeled('of the field', field), labeled('Elements of the array', unwind)),
  selector.element, el('div', {class: 'row'}, submit, button('Explain', explain)), names), hint, plan, chart)
  namesOf(store, signal).then(found => {
    known = found.fields
    arrays = found.arrays
    fill(names, known.map(value => el('option', {value})))
    showHint()
  }, tell)
  if (parameters.has('by')) await run()
}

/** The name of the aggregate, which is that of no field. */
function resultName(fields) {
  let name = 'value'
  while (fields.some(field => field.split('.')[0] === name)) name += '_'
  return name
}

function request(selector, by, show, field, unwind) {
  const fields = by.split(',').map(name => name.trim()).filter(Boolean)
  if (show !== 'count' && !field) throw new Error(`The ${show} needs a field; name it in "of the field".`)
  const value = show === 'count' ? new Map([['$count', new Map()]]) : new Map([[aggregates[show], field]])
  const group = new Map([['by', fields], ['aggregates', new Map([[resultName(fields), value]])]])
  if (unwind) group.set('unwind', unwind)
  // The greatest bars first.
  return new Map([['selector', selector], ['group', group], ['sort', [new Map([[resultName(fields), 'desc']])]], ['limit', maximumGroups]])
}

/** The address of the query for the documents of a group; undefined if a selector can't say which they are. */
function documentsOf(store, selector, {by, unwind}, row) {
  const [conditions, element] = [new Map(), new Map()]
  for (const name of by) {
    const value = valueAt(row, name)
    // The values that a path reaches in an array are not its value.
    if (Array.isArray(value) && name.includes('.')) return undefined
    const condition = value === undefined ? new Map([['$exists', false]]) : value instanceof Map ? new Map([['$eq', value]]) : value
    if (name === unwind) conditions.set(name, condition)
    else if (unwind && name.startsWith(`${unwind}.`)) element.set(name.slice(unwind.length + 1), condition)
    else conditions.set(name, condition)
  }
  if (element.size) conditions.set(unwind, new Map([['$elemMatch', element]]))
  else if (unwind && !conditions.has(unwind)) conditions.set(unwind, new Map([['$exists', true], ['$ne', []]]))
  return link(store, 'documents', {selector: line(selector.size ? new Map([['$and', [selector, conditions]]]) : conditions)})
}

function chartOf(store, body, groups, show, field) {
  if (!groups.length) return el('p', {}, 'No document matches.')
  const names = body.get('group').get('by')
  const result = resultName(names)
  const number = value => typeof value === 'number' ? value : Number(value?.text ?? NaN)
  const longest = Math.max(...groups.map(row => Math.abs(number(row.get(result)))).filter(Number.isFinite), 0)
  const what = show === 'count' ? body.get('group').has('unwind') ? 'Elements' : 'Documents' : `The ${show} of ${field}`
  return [
    el('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Groups'}, el('table', {class: 'chart'},
      el('caption', {}, `${what}${names.length ? ` by ${names.join(', ')}` : ''}`),
      el('thead', {}, el('tr', {}, names.map(name => el('th', {scope: 'col'}, text(name, 60))), el('th', {scope: 'col', class: 'number'}, what), el('td'))),
      el('tbody', {}, groups.map(row => [row, documentsOf(store, body.get('selector'), Object.fromEntries(body.get('group')), row)]).map(([row, href]) => el('tr', {},
        names.map(name => valueAt(row, name)).map((value, at) => {
          const label = value === undefined ? el('em', {}, 'absent') : text(shownValue(value).text, 100)
          return el('th', {scope: 'row', title: value === undefined ? null : visible(typeof value === 'string' ? value : line(value), 1_000)},
            at || !href ? label : el('a', {href}, label))
        }),
        el('td', {class: 'number'}, text(shown(row.get(result) ?? null), 60)),
        el('td', {class: 'bars'}, Number.isFinite(number(row.get(result))) ? bar(longest ? Math.abs(number(row.get(result))) / longest : 0) : '')))))),
    groups.length === maximumGroups && el('p', {}, `The first ${maximumGroups} groups are shown.`),
  ]
}

function shown(value) {
  if (typeof value === 'number') return value.toLocaleString('en', {maximumFractionDigits: 6})
  return typeof value === 'string' ? value : beginning(value, 100)
}
