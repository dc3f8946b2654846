#ifndef STORE_H
#define STORE_H

char *store_get(const char *user, const char *key);
int store_set(const char *user, const char *key, const char *value);
int store_count(const char *names[], int count);
int store_level(int level);

#endif
