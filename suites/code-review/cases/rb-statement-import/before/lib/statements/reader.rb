# frozen_string_literal: true

require "csv"
require "statements/entry"

module Statements
  # Reads the statements that lie in a folder, one file for each day.
  class Reader
    def initialize(folder)
      @folder = folder
    end

    # All entries of all days.
    def entries
      files.flat_map do |path|
        CSV.foreach(path, headers: true).map do |row|
          Entry.new(account: row["account"], cents: Integer(row["cents"], 10), text: row["text"])
        end
      end
    end

    private

    def files
      Dir.glob(File.join(@folder, "*.csv")).sort
    end
  end
end
