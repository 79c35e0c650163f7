// Texts that a window has to bear: long, without a space, from right to left, wide, full of escapes.

export const BRANCH = `offshoot/${"make-the-tide-table-read-stations-lazily-and-keep-the-order-of-the-old-one-".repeat(4)}end`;

export const CHINESE = "把潮汐表的解析器改成惰性读取：先读索引，再按需读取各站的数据。保持旧接口不变，并为每个边界情况写测试。";
export const JAPANESE = "潮位表のパーサーを遅延読み込みに変更し、索引を先に読みます。テストはすべて通りました。";
export const ARABIC = "اجعل قارئ جدول المد والجزر يقرأ المحطات عند الحاجة فقط، ثم شغّل الاختبارات ‎cargo test‎ وأخبرني بالنتيجة.";
export const UNBROKEN = "averylongidentifierwithoutanyspace_".repeat(14);

export const MARKDOWN = `## What I found

The reader loads **every station** before the first row is asked for. Three places decide about that:

| place | what it does | costs |
|---|---|---:|
| \`src/table.rs:41\` | reads the whole file into a \`String\` | 210 ms |
| \`src/station.rs:112\` | parses all harmonics of all stations, also those that nobody looks at, because \`Station::new\` takes the parsed values | 1 380 ms |
| \`src/chart.rs:9\` | asks for the first station only | 0.2 ms |

1. Read the index first, keep offsets.
2. Parse a station when it is asked for:

\`\`\`rust
pub fn station(&self, id: StationId) -> Result<&Station, Error> {
    self.parsed[id].get_or_try_init(|| Station::parse(&self.text[self.offsets[id].clone()]))
}
\`\`\`

> The old order of rows is part of the public behaviour; \`tests/golden.rs\` compares it.

- [x] index
- [ ] lazy parsing, see <https://example.com/tides?format=csv>
- [ ] a test for *empty* stations

Then \`Table::rows\` stays as it is. ![chart](https://example.com/chart.png)`;

const ESC = "\u001b";
export const TERMINAL = [
  `${ESC}[1m${ESC}[32m   Compiling${ESC}[0m tidepool v0.4.1 (/home/ana/tidepool)`,
  `${ESC}[1m${ESC}[33mwarning${ESC}[0m${ESC}[1m: unused variable: \`offset\`${ESC}[0m`,
  ` ${ESC}[1m${ESC}[34m-->${ESC}[0m src/table.rs:41:9`,
  `${ESC}[1m${ESC}[32m    Finished${ESC}[0m \`test\` profile in 4.02s`,
  `${ESC}]8;;https://example.com/hidden${ESC}\\a link that only looks like one${ESC}]8;;${ESC}\\`,
  `${ESC}]52;c;cm0gLXJmIH4=${ESC}\\${ESC}[?1049h${ESC}[2J${ESC}[Hthe alternate screen`,
  `progress  10 %\rprogress  55 %\rprogress 100 %`,
  `${ESC}[38;5;208mtwo hundred and eight${ESC}[0m ${ESC}[48;2;20;90;160m${ESC}[97m true colour ${ESC}[0m ${ESC}[4munderlined${ESC}[0m ${ESC}[7m inverse ${ESC}[0m`,
  `test table::reads_lazily ... ${ESC}[32mok${ESC}[0m`,
  `test table::keeps_the_order ... ${ESC}[31mFAILED${ESC}[0m`,
].join("\n");

/** 200 KB in 4 000 lines. */
export const LONG_OUTPUT = Array.from({ length: 4000 }, (_, at) => `${String(at + 1).padStart(5)}  GET /stations/${at % 300}/rows?from=2026-11-30  200  ${(at * 37) % 900} ms`).join("\n");
/** Five megabytes without a line break. */
export const ONE_LINE = () => "0123456789abcdef".repeat(330_000);
