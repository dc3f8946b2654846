# frozen_string_literal: true

require "csv"
require "digest"
require "statements/entry"

module Statements
  # Reads the statements that lie in a folder, one file for each day.
  class Reader
    def initialize(folder)
      @folder = folder
    end

    # All entries of all days. A file that was put there under two names is read once.
    def entries
      distinct(files).flat_map do |path|
        CSV.foreach(path, headers: true).map do |row|
          Entry.new(account: row["account"], cents: Integer(row["cents"], 10), text: row["text"])
        end
      end
    end

    # The entries of each account, in the order of the days.
    def by_account
      accounts = Hash.new([])
      entries.each { |entry| accounts[entry.account] << entry }
      accounts
    end

    private

    def files
      Dir.glob(File.join(@folder, "*.csv")).sort
    end

    def distinct(paths)
      paths.uniq { |path| checksum(path) }
    end

    def checksum(path)
      digest = Digest::SHA256.new
      file = File.open(path, "rb")
      while (piece = file.read(1 << 16))
        digest << piece
      end
      digest.hexdigest
    end
  end
end
