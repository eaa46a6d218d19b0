// Usage: trim-icu lib_FoundationICU.a >icu.dat
// Writes the ICU data of the archive (icudt76_dat, 34 MB) without the parts that dlm never uses. 3 MB remain. Left out are
// converters, collations, dictionaries, transliterations, and all names of time zones and calendars that are not English.
// The format is ICU's common data (icu4c/source/tools/toolutil/package.cpp): a header, the number of items, and for each
// item the offsets of its name and its data, sorted by name.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *why) {
    fprintf(stderr, "trim-icu: %s\n", why);
    exit(1);
}

static uint32_t word(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static int begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static int ends(const char *text, const char *with) {
    size_t length = strlen(text), tail = strlen(with);
    return length >= tail && strcmp(text + length - tail, with) == 0;
}

// Returns whether an item is kept. Its name is given without the prefix icudt76l/.
static int keep(const char *name) {
    static const char *kept[] = {
        "root.res", "en.res", "en_US.res", "en_US_POSIX.res", "en_001.res", "pool.res", "res_index.res",
        "zoneinfo64.res", "timezoneTypes.res", "metaZones.res", "windowsZones.res", "supplementalData.res",
        "likelySubtags.res", "keyTypeData.res", "numberingSystems.res", "plurals.res", "dayPeriods.res", "icuver.res",
        "icustd.res", "metadata.res", "langInfo.res", "grammaticalFeatures.res", "currencyNumericCodes.res",
    };
    const char *slash = strchr(name, '/');
    const char *file = slash ? slash + 1 : name;
    if (!slash && ends(name, ".icu")) return strcmp(name, "unames.icu") != 0;
    if (ends(name, ".nrm")) return 1;
    if (slash && begins(name, "brkitr/") && ends(name, ".brk")) return !begins(file, "line_");
    if (slash && (begins(name, "translit/") || begins(name, "rbnf/") || begins(name, "coll/"))) return 0;
    if (slash && (begins(name, "lang/") || begins(name, "region/") || begins(name, "unit/"))) return 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(file, kept[i]) == 0) return 1;
    return 0;
}

// The data begins with the size of its header, the magic number 0xda27, and the format CmnD.
static const uint8_t *find(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i + 16 < count; i++)
        if (bytes[i + 2] == 0xda && bytes[i + 3] == 0x27 && memcmp(bytes + i + 12, "CmnD", 4) == 0) return bytes + i;
    return NULL;
}

int main(int count, char **words) {
    if (count != 2) fail("give lib_FoundationICU.a");
    FILE *file = fopen(words[1], "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail("cannot read the archive");
    long size = ftell(file);
    uint8_t *bytes = size > 0 ? malloc((size_t)size) : NULL;
    rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) fail("cannot read the archive");
    const uint8_t *data = find(bytes, (size_t)size);
    if (!data) fail("there is no data of ICU in the archive");
    uint16_t header;
    memcpy(&header, data, sizeof header);
    const uint8_t *table = data + header;
    uint32_t items = word(table), number = 0;
    uint32_t *kept = calloc(items, sizeof *kept);
    uint32_t names = 0;
    for (uint32_t i = 0; i < items; i++) {
        const char *name = (const char *)table + word(table + 4 + 8 * i);
        const char *slash = strchr(name, '/');
        if (!slash || !keep(slash + 1)) continue;
        kept[number++] = i;
        names += (uint32_t)strlen(name) + 1;
    }
    if (number < 20) fail("the data has another form than this program knows");
    fwrite(data, 1, header, stdout);
    fwrite(&number, sizeof number, 1, stdout);
    uint32_t name_at = 4 + 8 * number, data_at = (name_at + names + 15) & ~15u;
    uint32_t start = data_at;
    for (uint32_t k = 0; k < number; k++) {
        uint32_t i = kept[k], from = word(table + 8 + 8 * i);
        // The last item would end with the object in the archive. No kept item is the last one.
        if (i + 1 == items) fail("the last item is needed, and its end is not known");
        uint32_t length = word(table + 8 + 8 * (i + 1)) - from;
        uint32_t entry[2] = {name_at, data_at};
        fwrite(entry, sizeof entry, 1, stdout);
        name_at += (uint32_t)strlen((const char *)table + word(table + 4 + 8 * i)) + 1;
        data_at += (length + 15) & ~15u;
    }
    for (uint32_t k = 0; k < number; k++) {
        const char *name = (const char *)table + word(table + 4 + 8 * kept[k]);
        fwrite(name, 1, strlen(name) + 1, stdout);
    }
    static const uint8_t zeros[16];
    fwrite(zeros, 1, start - (4 + 8 * number + names), stdout);
    for (uint32_t k = 0; k < number; k++) {
        uint32_t i = kept[k], from = word(table + 8 + 8 * i), length = word(table + 8 + 8 * (i + 1)) - from;
        fwrite(table + from, 1, length, stdout);
        fwrite(zeros, 1, ((length + 15) & ~15u) - length, stdout);
    }
    if (fflush(stdout) || ferror(stdout)) fail("cannot write");
    return 0;
}
