/**
 * The form: native inputs, one for each setting.
 */
import { presets } from '../presets.ts'
import { CHOICES, SETTINGS } from '../setup.ts'
import { toHash } from './hash.ts'
import { toBytes, toRate, toTime } from './text.ts'
import type { Setup } from '../setup.ts'

interface Description<Value> {
  fieldset: 'link' | 'application' | 'options'
  label: string
  print (value: Value): string
}

const descriptions: { [Name in keyof Setup]: Description<Setup[Name]> } = {
  mbitPerS: { fieldset: 'link', label: 'Rate', print: toRate },
  delayMs: { fieldset: 'link', label: 'Delay, one way', print: toTime },
  bufferBytes: { fieldset: 'link', label: 'Send buffer', print: toBytes },
  streams: { fieldset: 'application', label: 'Bulk streams', print: count => count.toLocaleString('en') },
  messageBytes: { fieldset: 'application', label: 'Size of a message', print: toBytes },
  messagesAhead: { fieldset: 'application', label: 'In flight per stream', print: count => count === Infinity ? 'no limit' : `${count} at most` },
  urgentEveryMs: { fieldset: 'application', label: 'Urgent message every', print: toTime },
  isMarked: { fieldset: 'options', label: 'Mark the stream as urgent', print: isMarked => isMarked ? 'yes' : 'no' },
  strategy: { fieldset: 'options', label: 'strategy', print: strategy => strategy },
  maxQueueDelayMs: { fieldset: 'options', label: 'maxQueueDelayMs', print: ms => ms === Infinity ? 'no limit' : toTime(ms) }
}

export interface Controls {
  show (setup: Setup): void
}

function byId (id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement
}

function create<Tag extends keyof HTMLElementTagNameMap> (tag: Tag, properties: Partial<HTMLElementTagNameMap[Tag]> = {}, ...children: Array<Node | string>): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)

  return element
}

/** Returns what shows a value in the input */
function createInput<Name extends keyof Setup> (name: Name, onChosen: (value: Setup[Name]) => void): (value: Setup[Name]) => void {
  const { fieldset, label, print } = descriptions[name] as Description<Setup[Name]>
  const values = CHOICES[name] as ReadonlyArray<Setup[Name]>
  const row = create('div', { className: 'setting' }, create('label', { htmlFor: name }, label))
  byId(fieldset).append(row)

  if (typeof values[0] === 'boolean') {
    const input = create('input', { id: name, type: 'checkbox' })
    input.addEventListener('input', () => { onChosen(input.checked as Setup[Name]) })
    row.append(input)

    return value => { input.checked = value as boolean }
  }

  if (typeof values[0] === 'string') {
    const select = create('select', { id: name }, ...values.map(value => create('option', { value: String(value) }, print(value))))
    select.addEventListener('input', () => { onChosen(select.value as Setup[Name]) })
    row.append(select)

    return value => { select.value = String(value) }
  }

  const input = create('input', { id: name, type: 'range', min: '0', max: String(values.length - 1), step: '1' })
  const output = create('output', { ariaHidden: 'true' })
  input.addEventListener('input', () => { onChosen(values[Number(input.value)]) })
  row.append(output, input)

  return value => {
    input.value = String(values.indexOf(value))
    input.setAttribute('aria-valuetext', print(value))
    output.value = print(value)
  }
}

export function createControls (onChosen: (change: Partial<Setup>) => void): Controls {
  const showValue = SETTINGS.map(name => {
    const show = createInput(name, value => { onChosen({ [name]: value }) })

    return (setup: Setup) => { show(setup[name] as never) }
  })
  const radios = presets.map(({ name, setup }) => {
    const radio = create('input', { type: 'radio', name: 'preset' })
    radio.addEventListener('input', () => { onChosen(setup) })
    byId('presets').append(create('label', {}, radio, name))

    return radio
  })

  return {
    show (setup) {
      showValue.forEach(show => { show(setup) })
      const current = presets.findIndex(preset => toHash(preset.setup) === toHash(setup))
      radios.forEach((radio, i) => { radio.checked = i === current })
      byId('hint').textContent = presets[current]?.hint ?? 'A setup of your own. The address of this page leads to it.'
    }
  }
}
