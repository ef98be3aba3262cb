// The indexes: their sizes and what values they have; made, deleted and built again here.
import {bar, button, bytes, confirmed, count, during, el, fill, labeled, say, tell, text, visible} from './dom.js'
import {get, getValues, path, post, repeat} from './api.js'
import {beginning, line, Numeral, parse} from './json.js'
import {editor} from './editor.js'
import {showProgress} from './plan.js'

export async function showIndexes({main, store, signal}) {
  const list = el('div')
  const refresh = async () => {
    const reply = await getValues(path(store, '_index') + '?statistics=true', signal).catch(error => {
      // They can be used without their sizes, which users from whom rules withhold documents do not get.
      if (!['timeout', 'forbidden'].includes(error.error)) throw error
      tell(error)
      return getValues(path(store, '_index'), signal)
    })
    const own = reply.get('indexes').filter(index => index.get('type') !== 'special')
    fill(list, own.length ? own.map(index => showIndex(store, index, refresh, signal)) : el('p', {}, 'There are no indexes.'))
  }
  fill(main, el('h1', {}, 'Indexes'), list, newIndex(store, refresh, signal))
  await refresh()
}

function showIndex(store, index, refresh, signal) {
  const [name, ddoc, type, def, statistics] = ['name', 'ddoc', 'type', 'def', 'statistics'].map(member => index.get(member))
  const fields = def.get('fields').map(field => [...field][0])
  const named = {name, ddoc}
  const title = visible(ddoc && ddoc !== `_design/${name}` ? `${ddoc} ${name}` : name, 120)
  return el('section', {class: 'card', 'aria-label': title}, el('h2', {}, text(title)),
    el('p', {}, `${type === 'text' ? 'Text' : 'Values'} of `, fields.map(([name, direction], at) => [at ? ', ' : '', el('code', {}, visible(name, 120)), direction === 'desc' ? ' descending' : '']),
      [...def].filter(([setting]) => setting !== 'fields').map(([setting, value]) => described(setting, value)),
      ddoc === null && '; made by an app'),
    statistics && [el('p', {}, `${count(statistics.get('entries'), 'entry', 'entries')}, ${bytes(statistics.get('bytes'))}`),
      statistics.get('fields').map(distribution)],
    el('p', {class: 'row edits admins'},
      button('Rebuild', () => building(store, signal, () => post(path(store, '_index', '_rebuild'), named, signal), refresh), {'aria-label': `Rebuild ${title}`}),
      button('Delete', async () => {
        if (!await confirmed('Delete the index?', title)) return
        await post(path(store, '_index', '_delete'), named, signal)
        say(`The index ${title} is deleted.`)
        await refresh()
      }, {'aria-label': `Delete ${title}`})))
}

/** A setting of an index, such as `; unique`. */
function described(setting, value) {
  if (setting === 'unique') return value && '; unique'
  const code = el('code', {}, text(typeof value === 'string' ? value : beginning(value, 300), 300))
  const titles = {
    partial_filter_selector: '; only documents that match ', collation: '; collation ', sum: '; counts groups, with sums of ',
    expireAfter: '; documents expire after seconds: ',
  }
  return [titles[setting] ?? `; ${setting} `, code]
}

/** Runs a build, and shows how far it is. */
async function building(store, signal, action, refresh) {
  const progress = el('progress', {'aria-label': 'Progress of the index'})
  const status = document.getElementById('status')
  say('Building the index… ')
  status.append(progress)
  const watching = new AbortController()
  const done = AbortSignal.any([signal, watching.signal])
  // Those who are not server admins don't see how far it is.
  repeat(300, done, () => showProgress(progress, store, done)).catch(() => {})
  try {
    await action()
  } finally {
    watching.abort()
  }
  say('The index is complete.')
  await refresh()
}

/** The values of a field, by a sample: the frequent ones, and how they are spread. */
function distribution(field) {
  const [name, distinct, sample] = ['field', 'distinct', 'sample'].map(member => field.get(member))
  const counts = new Map()
  for (const value of sample) {
    const key = line(value)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const frequent = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1]).slice(0, 8)
  const share = count => count / sample.length
  return el('details', {}, el('summary', {}, 'Distribution of ', text(name, 120)),
    el('p', {}, `About ${count(Math.round(numberOf(distinct)), 'distinct value')}. `,
      sample.length > 0 && ['From ', text(line(sample[0]), 80), ' to ', text(line(sample.at(-1)), 80), '.']),
    frequent.length > 0 && el('table', {class: 'chart'}, el('caption', {}, 'Frequent values, by a sample'),
      el('tbody', {}, frequent.map(([key, count]) => el('tr', {}, el('th', {scope: 'row'}, text(key, 80)),
        el('td', {class: 'number'}, `${(share(count) * 100).toFixed(0)} %`), el('td', {class: 'bars'}, bar(share(count))))))),
    histogram(sample))
}

function numberOf(value) { return value instanceof Numeral ? Number(value.text) : value }

/** The shares of the sample's numbers in ten intervals. */
function histogram(sample) {
  const numbers = sample.map(numberOf).filter(Number.isFinite)
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)]
  if (numbers.length < 20 || !(greatest > least)) return null
  const width = (greatest - least) / 10
  const shares = Array(10).fill(0)
  for (const value of numbers) shares[Math.min(9, Math.floor((value - least) / width))] += 1 / numbers.length
  const format = value => value.toLocaleString('en', {maximumSignificantDigits: 4})
  const most = Math.max(...shares)
  return el('table', {class: 'chart'}, el('caption', {}, 'Numbers by interval, by a sample'), el('tbody', {}, shares.map((share, at) =>
    el('tr', {}, el('th', {scope: 'row'}, `${format(least + at * width)} to ${format(least + (at + 1) * width)}`),
      el('td', {class: 'number'}, `${(share * 100).toFixed(0)} %`), el('td', {class: 'bars'}, bar(share / most))))))
}

// MARK: New indexes

function newIndex(store, refresh, signal) {
  const names = el('datalist', {id: 'index-fields'})
  const fields = el('input', {list: names.id, required: true, placeholder: 'age:desc, name', spellcheck: 'false'})
  const name = el('input', {placeholder: 'generated', spellcheck: 'false'})
  const type = el('select', {}, el('option', {value: 'json'}, 'values'), el('option', {value: 'text'}, 'text'))
  const unique = el('input', {type: 'checkbox'})
  const filter = editor({label: 'Only documents that match (empty for all)', rows: 2})
  const submit = el('button', {}, 'Make the index')
  get(path(store, '_fields') + '?limit=1000', signal).then(found => fill(names, found.fields.map(({path}) =>
    el('option', {value: path.replaceAll('[]', '')}))), tell)
  return el('form', {
    class: 'edits admins', 'aria-labelledby': 'new-index', onsubmit: event => {
      event.preventDefault()
      during(submit, async () => {
        const body = new Map([['index', new Map([['fields', fieldsOf(fields.value)]])], ['type', type.value]])
        if (name.value) body.set('name', name.value)
        if (unique.checked) body.get('index').set('unique', true)
        try {
          if (filter.value.trim()) body.get('index').set('partial_filter_selector', parse(filter.value))
        } catch (error) {
          return filter.fail(error)
        }
        await building(store, signal, () => post(path(store, '_index'), line(body), signal), refresh)
      })
    },
  }, el('h2', {id: 'new-index'}, 'New index'),
  el('div', {class: 'row'}, labeled('Fields', fields), labeled('Name', name), labeled('Type', type), el('label', {class: 'check'}, unique, 'Unique')),
  filter.element, submit, names)
}

function fieldsOf(text) {
  return text.split(',').map(word => word.trim()).filter(Boolean).map(word => {
    const [, name, direction] = /^(.*?)(?::(asc|desc))?$/.exec(word)
    return new Map([[name, direction ?? 'asc']])
  })
}
