// SPDX-License-Identifier: Apache-2.0
/* The C interface of libtilewright.so: load a compiled artifact and run it.
 *
 *   tilewright_device  *device;   tilewright_device_open("host", &device);
 *   tilewright_program *program;  tilewright_program_load("model.tw", device, NULL, &program);
 *   tilewright_context *context;  tilewright_context_create(program, NULL, &context);
 *   tilewright_context_run(context, inputs, 1, NULL, 0);
 *   tilewright_context_output(context, 0, &output);
 *
 * Rules. Functions return a status; tilewright_last_error() then has one sentence for this thread. Handles are
 * opaque; a program keeps what it needs of its device, a context of its program, so they may be freed in any order.
 * A program may be used by several threads at once, a context by one at a time. Structures begin with their size,
 * set by the caller, so that later versions can append fields; enums only grow. No C++ exception leaves the library. */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILEWRIGHT_API __attribute__((visibility("default")))
#else
#define TILEWRIGHT_API
#endif

#define TILEWRIGHT_API_VERSION 1

/* The same numbers as the command line's exit codes. */
typedef enum tilewright_status {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_DIFFERS = 1,
  TILEWRIGHT_USAGE = 2,       /* wrong arguments, inputs that do not fit the model */
  TILEWRIGHT_UNSUPPORTED = 3, /* asks for something that is not built */
  TILEWRIGHT_MALFORMED = 4,   /* a damaged artifact, or data that a model must not get (an index out of range) */
  TILEWRIGHT_DEVICE = 5,      /* a device or driver is missing or failed */
  TILEWRIGHT_IO = 6,
  TILEWRIGHT_INTERNAL = 7
} tilewright_status;

/* DLPack's structures, with the same layout and the same numbers (dlpack.h), so that a DLTensor can be copied in
 * whole. */
typedef struct tilewright_dl_device {
  int32_t device_type; /* 1 host, 2 CUDA, 3 CUDA pinned host memory, 10 ROCm, 11 ROCm pinned host memory */
  int32_t device_id;
} tilewright_dl_device;

typedef struct tilewright_dl_dtype {
  uint8_t
      code; /* 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool; 10 float8_e4m3fn, 11 e4m3fnuz, 12 e5m2, 13 e5m2fnuz,
                   14 e8m0fnu, 17 float4_e2m1fn */
  uint8_t bits;   /* elements of 2 and 4 bits take one byte each, as with DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED */
  uint16_t lanes; /* 1 */
} tilewright_dl_dtype;

typedef struct tilewright_dl_tensor {
  void *data;
  tilewright_dl_device device;
  int32_t ndim;
  tilewright_dl_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL is dense row-major. Other strides are copied, in host memory only. */
  uint64_t byte_offset;
} tilewright_dl_tensor;

typedef struct tilewright_tensor {
  size_t struct_size;
  tilewright_dl_tensor dl;
} tilewright_tensor;

/* What the model says of an input or output. Pointers live as long as the program. */
typedef struct tilewright_tensor_info {
  size_t struct_size;
  const char *name;
  tilewright_dl_dtype dtype;
  int32_t ndim;
  const int64_t *shape;          /* -1 where the size is not fixed */
  const char *const *dimensions; /* each dimension in words: "4", "batch", "2 * seq" */
} tilewright_tensor_info;

typedef struct tilewright_load_options {
  size_t struct_size;
  const char *fusion_mode; /* "all", "epilogue", "none", "reference"; NULL is "all" */
} tilewright_load_options;

typedef struct tilewright_context_options {
  size_t struct_size;
  int32_t use_stream; /* nonzero: work in `stream`, in order with the caller's other work there */
  void *stream;       /* a CUstream or hipStream_t; NULL is the default stream */
} tilewright_context_options;

typedef struct tilewright_device tilewright_device;
typedef struct tilewright_program tilewright_program;
typedef struct tilewright_context tilewright_context;

TILEWRIGHT_API uint32_t tilewright_api_version(void); /* of the library; TILEWRIGHT_API_VERSION is the header's */
TILEWRIGHT_API const char *tilewright_version(void);  /* "0.1.0" */
TILEWRIGHT_API const char *tilewright_last_error(void);

/* `id`: "host", "cuda", "cuda:1", "hip", "hip:1". */
TILEWRIGHT_API tilewright_status tilewright_device_open(const char *id, tilewright_device **device);
TILEWRIGHT_API void tilewright_device_free(tilewright_device *device);

/* Verifies all of the artifact, then loads its code for `device`. `options` may be NULL. */
TILEWRIGHT_API tilewright_status tilewright_program_load(const char *path, const tilewright_device *device,
                                                         const tilewright_load_options *options,
                                                         tilewright_program **program);
TILEWRIGHT_API tilewright_status tilewright_program_load_memory(const void *bytes, size_t size,
                                                                const tilewright_device *device,
                                                                const tilewright_load_options *options,
                                                                tilewright_program **program);
TILEWRIGHT_API void tilewright_program_free(tilewright_program *program);
TILEWRIGHT_API size_t tilewright_program_input_count(const tilewright_program *program);
TILEWRIGHT_API size_t tilewright_program_output_count(const tilewright_program *program);
TILEWRIGHT_API tilewright_status tilewright_program_input(const tilewright_program *program, size_t index,
                                                          tilewright_tensor_info *info);
TILEWRIGHT_API tilewright_status tilewright_program_output(const tilewright_program *program, size_t index,
                                                           tilewright_tensor_info *info);

/* `options` may be NULL: a stream of the context's own. */
TILEWRIGHT_API tilewright_status tilewright_context_create(const tilewright_program *program,
                                                           const tilewright_context_options *options,
                                                           tilewright_context **context);
TILEWRIGHT_API void tilewright_context_free(tilewright_context *context);

/* Runs once and waits. With outputs (one for each of the model's, all with data and the right shape), they receive
 * the results; with none, tilewright_context_output gives them. Memory of the context's GPU, and host memory on the
 * host, is used in place if it is 64-byte aligned.
 * A model may have sizes that only running tells, and a second plan for those that the first one refuses. A run then
 * begins again from its inputs, so no output may lie where an input does; it fails with TILEWRIGHT_MALFORMED if one
 * does. */
TILEWRIGHT_API tilewright_status tilewright_context_run(tilewright_context *context, const tilewright_tensor *inputs,
                                                        size_t input_count, const tilewright_tensor *outputs,
                                                        size_t output_count);

/* The same in three steps. bind takes the tensors; execute may be called any number of times, and on a GPU returns
 * before the work is done, in order with the stream, unless sizes that only running tells have to be waited for;
 * synchronize waits and reports what kernels found wrong. Outputs must be memory of the device, 64-byte aligned. If
 * execute needs the second plan, it waits, runs that one in the same stream from the inputs on, and later calls of
 * execute try it first until bind is called. */
TILEWRIGHT_API tilewright_status tilewright_context_bind(tilewright_context *context, const tilewright_tensor *inputs,
                                                         size_t input_count, const tilewright_tensor *outputs,
                                                         size_t output_count);
TILEWRIGHT_API tilewright_status tilewright_context_execute(tilewright_context *context);
TILEWRIGHT_API tilewright_status tilewright_context_synchronize(tilewright_context *context);

/* Output `index` of the last run, in host memory that stays until the context runs or binds again, or is freed. */
TILEWRIGHT_API tilewright_status tilewright_context_output(tilewright_context *context, size_t index,
                                                           tilewright_tensor *output);

/* The same of any type. Outputs that are strings, sequences, optional values or maps have no DLPack type (their bits
 * are 0 in tilewright_tensor_info), and are read through these. Values belong to the context, and stay as long as
 * its outputs do. */
typedef struct tilewright_value tilewright_value;
typedef enum tilewright_kind {
  TILEWRIGHT_KIND_TENSOR = 0,
  TILEWRIGHT_KIND_STRINGS = 1,  /* a tensor of strings */
  TILEWRIGHT_KIND_SEQUENCE = 2, /* its elements */
  TILEWRIGHT_KIND_OPTIONAL = 3, /* no element, or one */
  TILEWRIGHT_KIND_MAP = 4       /* two elements: the keys, and as many values */
} tilewright_kind;
TILEWRIGHT_API tilewright_status tilewright_context_output_value(tilewright_context *context, size_t index,
                                                                 const tilewright_value **value);
TILEWRIGHT_API tilewright_kind tilewright_value_kind(const tilewright_value *value);
/* Dimensions of a tensor of numbers or strings; 0 of the others. */
TILEWRIGHT_API size_t tilewright_value_shape(const tilewright_value *value, const int64_t **dims);
/* Elements: of a tensor its numbers or strings. */
TILEWRIGHT_API size_t tilewright_value_count(const tilewright_value *value);
TILEWRIGHT_API tilewright_status tilewright_value_tensor(const tilewright_value *value, tilewright_tensor *tensor);
TILEWRIGHT_API tilewright_status tilewright_value_element(const tilewright_value *value, size_t index,
                                                          const tilewright_value **element);
/* UTF-8 as the model gave it, with a zero after the last byte; `bytes` may be NULL. */
TILEWRIGHT_API tilewright_status tilewright_value_string(const tilewright_value *value, size_t index, const char **text,
                                                         size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
